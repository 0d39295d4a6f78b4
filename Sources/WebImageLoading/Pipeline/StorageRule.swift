import FoundationEssentials

/// What is stored of the answers that a load brings, and what is noted with it.
struct StorageRule: Sendable {
    /// Who decides how long a picture serves.
    let policy: CachePolicy
    /// What is asked, as far as it is known before a request is sent.
    let request: HTTPCacheRequest
    let clock: ClockSource

    /// What stores everything.
    init(
        policy: CachePolicy = .immutable,
        request: HTTPCacheRequest = HTTPCacheRequest(),
        clock: ClockSource = .system
    ) {
        self.policy = policy
        self.request = request
        self.clock = clock
    }

    /// Whether loads with this rule store other things than those with another; those of one URL that do not, share their work.
    var isSelective: Bool { policy == .http }

    /// What to do about something cached.
    ///
    /// - Parameter isStored: whether there is something, also if nothing is known of it.
    func decision(for known: KnownValidators?, isStored: Bool) -> HTTPCacheDecision {
        let (record, now) = (known?.validators?.record, clock.wallTime())
        return HTTPCacheMachine.decide(record, isStored: isStored, request: request, policy: policy, now: now)
    }

    /// Whether an entry serves by now without asking: somebody else may have asked after a load had found that it does not.
    func serves(_ validators: CacheValidators?) -> Bool {
        guard validators?.record != nil else { return false }
        let known = KnownValidators(validators: validators)
        if case .hit = decision(for: known, isStored: true) { return policy != .revalidate }
        return false
    }

    /// Whether what came with a response may be stored; what came without one may.
    func admits(_ response: HTTPResponse?) -> Bool {
        response.map { HTTPCacheMachine.mayStore($0, request: request, policy: policy) } ?? true
    }

    /// What is noted with bytes that came with a response.
    ///
    /// - Parameter receivedHash: of what was received, if other bytes are stored.
    func validators(of response: HTTPResponse?, receivedHash: UInt64?) -> CacheValidators? {
        // A loader that gives no response tells no time either, and a time to live counts from some moment.
        let response = response ?? bareResponse
        // Those of other statuses belong to an error page or to a part.
        guard let response, (200...299).contains(response.statusCode), response.statusCode != 206 else {
            return CacheValidators(record: nil, receivedHash: receivedHash)
        }
        let record = HTTPCacheMachine.record(of: response, request: request, now: clock.wallTime())
        return CacheValidators(record: record, receivedHash: receivedHash)
    }

    private var bareResponse: HTTPResponse? {
        guard case .ttl = policy, let url = URL(string: "webimage:") else { return nil }
        return HTTPResponse(url: url, statusCode: 200)
    }

    /// What a server is asked with about bytes of which these are known.
    ///
    /// Of what was stored for another request its tag alone: a 304 to a date would not say which of the URL's pictures is meant
    /// (RFC 9111, 4.3.1).
    func conditions(from known: CacheValidators?) -> CacheValidators? {
        guard policy == .http, let record = known?.record, !record.isSelected(by: request) else { return known }
        return CacheValidators(etag: known?.etag, lastModified: nil)
    }

    /// What is noted with bytes of which a server says that they are what it has.
    ///
    /// - Returns: nil when what it says is about other bytes, which have to be fetched then.
    func renewed(_ known: CacheValidators?, by notModified: HTTPResponse) -> CacheValidators? {
        let now = clock.wallTime()
        if let record = known?.record {
            let updated = HTTPCacheMachine.updated(record, by: notModified, request: request, now: now)
            return updated.flatMap { CacheValidators(record: $0, receivedHash: known?.receivedHash) }
        }
        // Stored by somebody who noted the validators alone, or nothing.
        var headers = notModified.headers
        headers["ETag"] = headers["ETag"] ?? known?.etag
        headers["Last-Modified"] = headers["Last-Modified"] ?? known?.lastModified
        var whole = HTTPResponse(url: notModified.url, statusCode: 200, headers: headers)
        whole.exchange = notModified.exchange
        let record = HTTPCacheMachine.record(of: whole, request: request, now: now)
        return CacheValidators(record: record, receivedHash: known?.receivedHash)
    }
}

/// What an original on disk must be to serve a load under a policy: another manager may have stored it. Pure.
///
/// Pixels, frames and time are bounded when it is decoded.
struct EntryRule: Sendable, Hashable {
    let formats: Set<ImageFormat>
    let maximumByteCount: Int

    /// Nil where nothing is asked.
    init?(_ policy: SourcePolicy) {
        guard !policy.isTrusted else { return nil }
        (formats, maximumByteCount) = (policy.formats, policy.maximumByteCount)
    }

    /// Why it does not serve, or nil.
    ///
    /// - Parameter isRemade: whether a serializer of the user's writes what is on disk, in a format of its own choice.
    func problem(of data: Data, isRemade: Bool) -> WebImageError? {
        guard data.count <= maximumByteCount else {
            return .limitExceeded("maximumByteCount", allowed: maximumByteCount, required: data.count)
        }
        return isRemade ? nil : PictureSniffer(formats: formats).problem(of: data)
    }
}
