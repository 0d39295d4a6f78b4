import FoundationEssentials

/// What tells the bytes that a server has from those that a picture was made of.
struct SourceContent: Sendable, Hashable {
    /// The XXH3 of the bytes as they were received.
    var hash: UInt64
    /// What the server gave with them.
    var validators: CacheValidators?
}

extension CachedImageData {
    /// What an entry under the original key was made of.
    var source: SourceContent {
        SourceContent(hash: validators?.receivedHash ?? data.contentHash, validators: validators)
    }

    /// Whether the entry and an image under one key can be of the same picture: false when both tell what they were made of
    /// and that differs.
    ///
    /// - Parameter isOriginal: whether an entry that tells nothing is what was received.
    func mayBelong(to image: Image, isOriginal: Bool) -> Bool {
        let hash = image.metadata.sourceHash
        guard hash != 0 else { return true }
        let own = validators?.receivedHash ?? (isOriginal ? data.contentHash : hash)
        return own == hash
    }
}

extension Data {
    /// The XXH3 of the bytes; never 0, which stands for unknown.
    var contentHash: UInt64 { Swift.max(withUnsafeBytes { Hashing.xxh3($0) }, 1) }
}

extension ImageMetadata {
    /// The XXH3 of the bytes that the image was made of; nil when that is not known.
    var knownSourceHash: UInt64? { sourceHash == 0 ? nil : sourceHash }
}

extension Image {
    /// The image, known to be made of bytes with this hash.
    ///
    /// - Parameter held: what the server said of them, if that is written down nowhere.
    func with(sourceHash: UInt64, held: HeldValidators? = nil, extendedData: Data? = nil) -> Image {
        var metadata = metadata
        metadata.sourceHash = sourceHash
        metadata.heldValidators.value = held
        return with(metadata: metadata, extendedData: .some(extendedData ?? self.extendedData))
    }
}
