import FoundationEssentials

extension CachedImageData {
    /// The XXH3 of what was received for an entry under the original key.
    package var sourceHash: UInt64 { validators?.receivedHash ?? data.contentHash }
    /// What an entry under the original key was made of.
    package var source: KnownValidators { KnownValidators(validators: validators, contentHash: sourceHash) }

    /// Whether the entry and an image under one key can be of the same picture: false when both tell what they were made of
    /// and that differs.
    ///
    /// - Parameter isOriginal: whether an entry that tells nothing is what was received.
    package func mayBelong(to image: Image, isOriginal: Bool) -> Bool {
        let hash = image.metadata.sourceHash
        guard hash != 0 else { return true }
        let own = validators?.receivedHash ?? (isOriginal ? data.contentHash : hash)
        return own == hash
    }
}

extension Data {
    /// The XXH3 of the bytes; never 0, which stands for unknown.
    package var contentHash: UInt64 { Swift.max(withUnsafeBytes { Hashing.xxh3($0) }, 1) }
}

extension ImageMetadata {
    /// The XXH3 of the bytes that the image was made of; nil when that is not known.
    package var knownSourceHash: UInt64? { sourceHash == 0 ? nil : sourceHash }
}
