import FoundationEssentials

/// The rule for which responses of a load are stored, and with what metadata.
struct StorageRule: Sendable {
    /// The policy that decides how long an image stays usable.
    let policy: CachePolicy
    /// The request, as far as known before it is sent.
    let request: HTTPCacheRequest
    let clock: ClockSource

    /// Creates a rule that stores everything by default.
    init(
        policy: CachePolicy = .immutable,
        request: HTTPCacheRequest = HTTPCacheRequest(),
        clock: ClockSource = .system
    ) {
        self.policy = policy
        self.request = request
        self.clock = clock
    }

    /// True if loads with this rule store other responses than those with another. Loads of the same URL share their work if
    /// theirs do not.
    var isSelective: Bool { policy == .http }

    /// Returns the decision about a cached response.
    ///
    /// - Parameter isStored: True if there is one, even if nothing is known about it.
    func decision(for known: CachedValidators?, isStored: Bool) -> HTTPCacheDecision {
        let (record, now) = (known?.validators?.record, clock.wallTime())
        return HTTPCacheMachine.decide(record, isStored: isStored, request: request, policy: policy, now: now)
    }

    /// Returns whether an entry is usable without asking the server: another load may have revalidated it meanwhile.
    func serves(_ validators: CacheValidators?) -> Bool {
        guard validators?.record != nil else { return false }
        let known = CachedValidators(validators: validators)
        if case .hit = decision(for: known, isStored: true) { return policy != .revalidate }
        return false
    }

    /// Returns whether data with this response may be stored; data without a response may.
    func admits(_ response: HTTPResponse?) -> Bool {
        response.map { HTTPCacheMachine.mayStore($0, request: request, policy: policy) } ?? true
    }

    /// Returns the metadata to store with the bytes of a response.
    ///
    /// - Parameter receivedHash: The hash of the received bytes, if other bytes are stored.
    func validators(of response: HTTPResponse?, receivedHash: UInt64?) -> CacheValidators? {
        // A loader without a response provides no time either, and a time to live needs a start.
        let response = response ?? bareResponse
        // Other statuses are those of an error page or a part.
        guard let response, (200...299).contains(response.statusCode), response.statusCode != 206 else {
            return CacheValidators(record: nil, receivedHash: receivedHash)
        }
        let record = HTTPCacheMachine.record(of: response, request: request, now: clock.wallTime())
        return CacheValidators(record: record, receivedHash: receivedHash)
    }

    /// Permits a cache to give an entry to other machines, if its response is for everyone.
    func share(_ request: inout ImageStoreRequest, as scope: String, _ response: HTTPResponse?) {
        guard let response, response.isForEveryone else { return }
        request.sharingScope = scope
        let record = HTTPCacheMachine.record(of: response, request: self.request, now: clock.wallTime())
        request.lifetime = lifetime(record)
    }

    /// Permits a cache to give the metadata of an entry to other machines that a response for everyone has confirmed.
    func shareConfirmed(_ request: inout ImageStoreRequest, as scope: String, _ response: HTTPResponse) {
        guard let record = request.validators?.record, response.isForEveryone(withStatus: response.statusCode),
            !record.facts.control.says(.isPrivate), !record.facts.control.says(.noStore)
        else { return }
        request.sharingScope = scope
        request.lifetime = lifetime(record)
    }

    /// Returns the time in seconds for which a response can be used, also stale; nil if it does not end.
    private func lifetime(_ record: HTTPCacheRecord) -> Double? {
        switch policy {
        case .immutable: return nil
        case .ttl(let seconds): return seconds
        case .http, .revalidate:
            let freshness = record.freshness(now: clock.wallTime())
            let control = record.facts.control
            return max((freshness.lifetime ?? 0) - freshness.age, 0)
                + max(control.staleWhileRevalidate ?? 0, control.staleIfError ?? 0)
        }
    }

    private var bareResponse: HTTPResponse? {
        guard case .ttl = policy, let url = URL(string: "webimage:") else { return nil }
        return HTTPResponse(url: url, statusCode: 200)
    }

    /// Returns the validators for a conditional request about bytes with the known ones.
    ///
    /// For a response stored for another request, only the entity tag: a 304 to a date would not identify which of the URL's
    /// images is meant (RFC 9111, 4.3.1).
    func conditions(from known: CacheValidators?) -> CacheValidators? {
        guard policy == .http, let record = known?.record, !record.isSelected(by: request) else { return known }
        return CacheValidators(etag: known?.etag, lastModified: nil)
    }

    /// Returns the metadata of bytes that a server confirmed.
    ///
    /// - Returns: Nil if the 304 does not match these bytes, which must then be fetched.
    func renewed(_ known: CacheValidators?, by notModified: HTTPResponse) -> CacheValidators? {
        let now = clock.wallTime()
        if let record = known?.record {
            let updated = HTTPCacheMachine.updated(record, by: notModified, request: request, now: now)
            return updated.flatMap { CacheValidators(record: $0, receivedHash: known?.receivedHash) }
        }
        // Stored by code that recorded only the validators, or nothing.
        var headers = notModified.headers
        headers["ETag"] = headers["ETag"] ?? known?.etag
        headers["Last-Modified"] = headers["Last-Modified"] ?? known?.lastModified
        var whole = HTTPResponse(url: notModified.url, statusCode: 200, headers: headers)
        whole.exchange = notModified.exchange
        let record = HTTPCacheMachine.record(of: whole, request: request, now: now)
        return CacheValidators(record: record, receivedHash: known?.receivedHash)
    }
}

/// The requirements of a policy on an original from disk, which another manager may have stored. A pure value.
///
/// Pixels, frames and time are limited when it is decoded.
struct EntryRule: Sendable, Hashable {
    let formats: Set<ImageFormat>
    let maximumByteCount: Int

    /// Nil if nothing is required.
    init?(_ policy: SourcePolicy) {
        guard !policy.isTrusted else { return nil }
        (formats, maximumByteCount) = (policy.formats, policy.maximumByteCount)
    }

    /// Returns the error that makes the data unusable; nil if it is usable.
    ///
    /// - Parameter isRemade: True if a user's serializer writes the bytes on disk, in a format of its choice.
    func problem(of data: Data, isRemade: Bool) -> WebImageError? {
        guard data.count <= maximumByteCount else {
            return .limitExceeded("maximumByteCount", allowed: maximumByteCount, required: data.count)
        }
        return isRemade ? nil : ImageSniffer(formats: formats).problem(of: data)
    }
}
