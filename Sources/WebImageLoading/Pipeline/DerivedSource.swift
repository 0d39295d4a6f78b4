import FoundationEssentials

/// What is known of an original that is kept nowhere, by what was made of it.
struct DerivedSource: Hashable, Sendable {
    /// What a server is asked with, and what its answer is compared with.
    let known: KnownValidators
    /// Where an image in memory has it from.
    private let held: Identified<HeldValidators, ObjectIdentifier>?
    /// The entry of what was made of it.
    private let cache: Identified<any ImageCaching, ObjectIdentifier>
    private let cacheKey: String

    /// What an image in memory holds; nil when it holds nothing, because an entry on disk tells it or nobody knows.
    init?(_ image: Image?, of cache: any ImageCaching, _ cacheKey: String) {
        guard let image, let held = image.metadata.heldValidators, let validators = held.validators,
            let hash = image.metadata.knownSourceHash
        else { return nil }
        known = KnownValidators(validators: validators, contentHash: hash)
        self.held = Identified(held)
        self.cache = Identified(cache, by: ObjectIdentifier(cache))
        self.cacheKey = cacheKey
    }

    /// What is stored on disk with what was made of it.
    init?(_ known: KnownValidators?, _ image: Image?, of cache: any ImageCaching, _ cacheKey: String) {
        guard let known, let hash = known.contentHash else { return nil }
        self.known = known
        let isSame = image?.metadata.sourceHash == hash
        held = isSame ? image?.metadata.heldValidators.map { Identified($0) } : nil
        self.cache = Identified(cache, by: ObjectIdentifier(cache))
        self.cacheKey = cacheKey
    }

    /// Notes what the server has said of the same bytes since: in memory, and with what was made of them on disk.
    func renew(_ now: KnownValidators) {
        guard let hash = now.contentHash, hash == known.contentHash, now.validators != known.validators else { return }
        held?.value.validators = now.validators
        var validators = now.validators.with(receivedHash: hash)
        validators?.subject.value = hash
        cache.value.amend(validators: validators, forKey: cacheKey)
    }
}

/// What a server said of bytes that are kept nowhere, held by the images in memory that were made of them.
///
/// All images that come of one decode share it, so that an answer that renews one renews them all.
package final class HeldValidators: Sendable {
    private let value: Lock<CacheValidators?>

    /// - Parameter validators: with the hash of what was received.
    init(_ validators: CacheValidators?) { value = Lock(validators) }

    /// What the latest answer said.
    var validators: CacheValidators? {
        get { value.withLock { $0 } }
        set { value.withLock { $0 = newValue } }
    }
}

extension ImageMetadata {
    /// What the server said of the bytes that the image was made of, where no entry on disk has it.
    package var heldValidators: HeldValidators? { attachment.value as? HeldValidators }
}

extension Image {
    /// The image, known to be made of bytes with this hash.
    ///
    /// - Parameter held: what the server said of them, if that is written down nowhere.
    func with(sourceHash: UInt64, held: HeldValidators? = nil, extendedData: Data? = nil) -> Image {
        var metadata = metadata
        metadata.sourceHash = sourceHash
        metadata.attachment.value = held
        return with(metadata: metadata, extendedData: .some(extendedData ?? self.extendedData))
    }
}
