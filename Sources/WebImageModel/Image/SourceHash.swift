import FoundationEssentials

extension CachedImageData {
    /// The XXH3 of the bytes that were received for an entry under the original key.
    package var sourceHash: UInt64 { validators?.receivedHash ?? data.contentHash }
    /// The validators and the content hash of an entry under the original key.
    package var source: CachedValidators { CachedValidators(validators: validators, contentHash: sourceHash) }

    /// Returns whether the entry and an image with the same key can have the same source: false if both know its hash and the
    /// hashes differ.
    ///
    /// - Parameter isOriginal: whether an entry without a received hash holds the received bytes.
    package func mayBelong(to image: Image, isOriginal: Bool) -> Bool {
        let hash = image.metadata.sourceHash
        guard hash != 0 else { return true }
        let own = validators?.receivedHash ?? (isOriginal ? data.contentHash : hash)
        return own == hash
    }
}

extension Data {
    /// The XXH3 of the bytes; never 0, which means unknown.
    package var contentHash: UInt64 { Swift.max(withUnsafeBytes { Hashing.xxh3($0) }, 1) }
}

extension ImageMetadata {
    /// The XXH3 of the bytes that the image was made from; nil if it is not known.
    package var knownSourceHash: UInt64? { sourceHash == 0 ? nil : sourceHash }
}
