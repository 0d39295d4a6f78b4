/// What is known of an original that is kept nowhere, by what was made of it.
struct DerivedSource: Hashable, Sendable {
    /// What a server is asked with, and what its answer is compared with.
    let content: SourceContent
    /// Where an image in memory has it from.
    private let held: Identified<HeldValidators, ObjectIdentifier>?
    /// The entry of what was made of it.
    private let cache: Identified<any ImageCaching, ObjectIdentifier>
    private let cacheKey: String

    /// What an image in memory holds; nil when it holds nothing, because an entry on disk tells it or nobody knows.
    init?(_ image: Image?, of cache: any ImageCaching, _ cacheKey: String) {
        guard let image, let held = image.metadata.heldValidators.value, let validators = held.validators,
            let hash = image.metadata.knownSourceHash
        else { return nil }
        content = SourceContent(hash: hash, validators: validators)
        self.held = Identified(held)
        self.cache = Identified(cache, by: ObjectIdentifier(cache))
        self.cacheKey = cacheKey
    }

    /// What is stored on disk with what was made of it.
    init?(_ known: KnownValidators?, _ image: Image?, of cache: any ImageCaching, _ cacheKey: String) {
        guard let known, let hash = known.contentHash else { return nil }
        content = SourceContent(hash: hash, validators: known.validators)
        let isSame = image?.metadata.sourceHash == hash
        held = isSame ? image?.metadata.heldValidators.value.map { Identified($0) } : nil
        self.cache = Identified(cache, by: ObjectIdentifier(cache))
        self.cacheKey = cacheKey
    }

    /// The same in the form in which entries are judged.
    var known: KnownValidators { KnownValidators(validators: content.validators, contentHash: content.hash) }

    /// Notes what the server has said of the same bytes since: in memory, and with what was made of them on disk.
    func renew(_ now: SourceContent) {
        guard now.hash == content.hash, now.validators != content.validators else { return }
        held?.value.validators = now.validators
        var validators = now.validators.with(receivedHash: now.hash)
        validators?.subject.value = now.hash
        cache.value.amend(validators: validators, forKey: cacheKey)
    }
}
