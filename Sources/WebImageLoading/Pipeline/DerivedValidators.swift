import FoundationEssentials

/// The validators of an original that is stored nowhere, taken from an image made of it.
struct DerivedValidators: Hashable, Sendable {
    /// The validators for revalidation, and the content hash that the response is compared with.
    let known: CachedValidators
    /// The object through which images in memory share the validators.
    private let held: Identified<ImageValidators, ObjectIdentifier>?
    /// The entry of the derived image.
    private let cache: Identified<any ImageCaching, ObjectIdentifier>
    private let cacheKey: String

    /// Takes the validators attached to an image in memory; nil if it has none, because they are on disk or unknown.
    init?(_ image: Image?, of cache: any ImageCaching, _ cacheKey: String) {
        guard let image, let held = image.metadata.heldValidators, let validators = held.validators,
            let hash = image.metadata.knownSourceHash
        else { return nil }
        known = CachedValidators(validators: validators, contentHash: hash)
        self.held = Identified(held)
        self.cache = Identified(cache, by: ObjectIdentifier(cache))
        self.cacheKey = cacheKey
    }

    /// Takes the validators stored on disk with the derived image.
    init?(_ known: CachedValidators?, _ image: Image?, of cache: any ImageCaching, _ cacheKey: String) {
        guard let known, let hash = known.contentHash else { return nil }
        self.known = known
        let isSame = image?.metadata.sourceHash == hash
        held = isSame ? image?.metadata.heldValidators.map { Identified($0) } : nil
        self.cache = Identified(cache, by: ObjectIdentifier(cache))
        self.cacheKey = cacheKey
    }

    /// Updates the validators after the server confirmed the same bytes: in memory, and in the derived image's entry on disk.
    func renew(_ now: CachedValidators) {
        guard let hash = now.contentHash, hash == known.contentHash, now.validators != known.validators else { return }
        held?.value.validators = now.validators
        var validators = now.validators.with(receivedHash: hash)
        validators?.subject.value = hash
        cache.value.amend(validators: validators, forKey: cacheKey)
    }
}

/// The validators of bytes that are stored nowhere, attached to the images in memory that were made of them.
///
/// All images of one decode share this object, so that one revalidation renews them all.
package final class ImageValidators: Sendable {
    private let value: Lock<CacheValidators?>

    /// - Parameter validators: With the hash of the received bytes.
    init(_ validators: CacheValidators?) { value = Lock(validators) }

    /// The validators of the latest response.
    var validators: CacheValidators? {
        get { value.withLock { $0 } }
        set { value.withLock { $0 = newValue } }
    }
}

extension ImageMetadata {
    /// The validators of the source bytes, if no entry on disk has them.
    package var heldValidators: ImageValidators? { attachment.value as? ImageValidators }
}

extension Image {
    /// Returns the image with the hash of its source bytes.
    ///
    /// - Parameter held: The validators of the bytes, if they are stored nowhere.
    func with(sourceHash: UInt64, held: ImageValidators? = nil, extendedData: Data? = nil) -> Image {
        var metadata = metadata
        metadata.sourceHash = sourceHash
        metadata.attachment.value = held
        return with(metadata: metadata, extendedData: .some(extendedData ?? self.extendedData))
    }
}
