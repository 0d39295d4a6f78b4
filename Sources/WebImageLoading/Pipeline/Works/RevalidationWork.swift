import FoundationEssentials

/// The cache status of an image.
struct CacheStatus: Sendable {
    /// The validators of its source bytes; without a hash if unknown, and nil for an image that is only in memory.
    var known: CachedValidators?
    var isStale = false
    /// The error of a failed refresh.
    var error: WebImageError?
    /// True if the server confirmed it.
    var isConfirmed = false

    /// The XXH3 of the bytes.
    var contentHash: UInt64? { known?.contentHash }
}

/// The outcome of a revalidation.
enum Revalidated: Sendable {
    /// Nothing is cached.
    case absent
    /// The cached image is usable.
    case current(CacheStatus)
    /// The loader returned bytes other than those of the cached image.
    case newer(GivenData)
}

/// Original bytes that are already available.
final class GivenData: Sendable {
    let original: OriginalData

    init(_ original: OriginalData) { self.original = original }
}

/// Revalidates the cached original: by its validators and the cache policy, or by a conditional request to the loader.
///
/// A stale status that allows use while the loader is asked is sent first, as a value.
struct RevalidationWork: Work {
    let plan: Boxed<LoadPlan.Original>
    private let terms: LoadPlan.Revalidation
    private let cacheKey: String

    /// Nil for a plan without revalidation.
    init?(plan: Boxed<LoadPlan.Original>) {
        guard let terms = plan.value.revalidation?.value, let cacheKey = plan.value.cacheKey else { return nil }
        (self.plan, self.terms, self.cacheKey) = (plan, terms, cacheKey)
    }

    private var original: OriginalWork { OriginalWork(plan: plan) }
    private var cache: any ImageCaching { plan.value.cache.value }
    private var rule: StorageRule { plan.value.rule.value }
    private var url: URL? { original.fetch?.url }

    var key: WorkKey { .revalidation(plan) }

    func start(_ job: WorkJob) {
        guard !terms.asksAlways else { return ask(job, CacheStatus(), .never) }
        if let derived = terms.derived?.value { return judge(derived.known, job) }
        if let known = cache.knownValidators(forKey: cacheKey) { return judge(known, job) }
        let query = ImageCacheQuery(
            key: cacheKey,
            priority: job.priority,
            sharingScope: plan.value.sharingScope,
            isFollowedByLoad: original.fetch != nil && plan.value.sharingScope != nil
        )
        let operation = cache.queryValidators(query) { judge($0, job) }
        job.hold(operation)
    }

    // MARK: The decision

    private func judge(_ known: CachedValidators?, _ job: WorkJob) {
        let decision = rule.decision(for: known, isStored: known != nil || terms.isInMemory)
        if let verdict = CacheVerdict(decision) { job.note(.judged(verdict)) }
        let status = CacheStatus(known: known)
        guard original.fetch != nil else { return serveCached(status, decision, job) }
        switch decision {
        case .hit(let answer): end(.current(CacheStatus(known: known, isStale: answer.isStale)), job)
        case .serveStale:
            guard mayAsk else { return end(.current(CacheStatus(known: known, isStale: true)), job) }
            let permitted = RevalidationWork(plan: plan.with { $0.permission = nil }) ?? self
            job.send(.staleStatus(CacheStatus(known: known, isStale: true)))
            permitted.ask(job, status, .always)
        case .revalidate(_, let fallback): ask(job, status, fallback)
        case .fetch(.nothingStored): end(.absent, job)
        case .fetch: ask(job, status, .never)
        case .unsatisfiable: job.finish(.failure(.notCached(url)))
        }
    }

    /// Without a loader, every cached response is usable except that to another request.
    private func serveCached(_ status: CacheStatus, _ decision: HTTPCacheDecision, _ job: WorkJob) {
        var status = status
        status.isStale = true
        switch decision {
        case .hit(let answer): status.isStale = answer.isStale
        case .fetch(.varies): return job.finish(.failure(.notCached(url)))
        default: break
        }
        end(.current(status), job)
    }

    private var mayAsk: Bool { plan.value.permission?.value() ?? true }

    // MARK: Asking the loader

    /// The cached status, and the failures of the loader in which it is used.
    private typealias Stale = (status: CacheStatus, fallback: HTTPStaleFallback)

    private func ask(_ job: WorkJob, _ status: CacheStatus, _ fallback: HTTPStaleFallback) {
        let stale = (status, fallback)
        guard let fetch = original.fetch else { return job.finish(.failure(.notCached(url))) }
        guard mayAsk else { return fail(.downloadRefused(fetch.url), status, fallback.whenUnreachable, job) }
        guard plan.value.queriesDisk else {
            return load(fetch, terms.derived?.value.known, stale, job)
        }
        job.require(DiskReadWork(cache: cache, cacheKey: cacheKey)) { result in
            guard case .success(.diskEntry(let entry?)) = result else {
                return load(fetch, terms.derived?.value.known, stale, job)
            }
            if original.problem(of: entry) != nil {
                job.note(.diskMissed(key: cacheKey, .refused))
                // The server is not asked whether it has changed either.
                return load(fetch, nil, stale, job)
            }
            // Another load may have revalidated it meanwhile.
            if !terms.asksAlways, rule.serves(entry.validators) { return confirm(entry.source, job) }
            load(fetch, entry.source, stale, job)
        }
    }

    /// Asks the loader, with a conditional request if validators are known.
    private func load(_ fetch: FetchWork, _ known: CachedValidators?, _ stale: Stale, _ job: WorkJob) {
        job.require(fetch.conditional(on: rule.conditions(from: known?.validators))) { result in
            if let known, let answer = notModified(result) {
                if let known = renewed(known, by: answer) { return confirm(known, job) }
                // The 304 is about other bytes than the known ones: fetch the full response.
                return job.require(fetch) { end($0, nil, stale, job) }
            }
            end(result, known, stale, job)
        }
    }

    private func end(_ result: WorkResult, _ known: CachedValidators?, _ stale: Stale, _ job: WorkJob) {
        switch result {
        case .success(.loaded(let loaded, let reservation)):
            if let known, let same = unchanged(loaded, known) { return confirm(same, job) }
            end(.newer(GivenData(original.data(of: loaded, reservation))), job)
        case .success: job.finish(.failure(WebImageError(.badImageData, "the loader delivered no data", url: url)))
        case .failure(let error): fail(error.with(url: url), stale.status, stale.fallback.allows(error), job)
        }
    }

    /// - Parameter serves: True if the cached image is used in spite of the error.
    private func fail(_ error: WebImageError, _ status: CacheStatus, _ serves: Bool, _ job: WorkJob) {
        guard serves else { return job.finish(.failure(terms.asksAlways ? error : error.ofRefresh)) }
        end(.current(CacheStatus(known: status.known, isStale: true, error: error)), job)
    }

    /// Ends with the confirmed validators.
    private func confirm(_ known: CachedValidators, _ job: WorkJob) {
        job.note(.notModified)
        terms.derived?.value.renew(known)
        end(.current(CacheStatus(known: known, isConfirmed: true)), job)
    }

    private func end(_ result: Revalidated, _ job: WorkJob) { job.finish(.success(.revalidated(result))) }

    // MARK: Unchanged responses

    /// A "not modified" response.
    private enum NotModified {
        /// A custom loader's error without a response.
        case unexplained
        case response(HTTPResponse)
    }

    private func notModified(_ result: WorkResult) -> NotModified? {
        switch result {
        case .success(.loaded(let loaded, _)):
            guard let response = loaded.response, response.statusCode == 304 else { return nil }
            return .response(response)
        case .failure(let error) where error.code == .cacheNotModified:
            return error.response.map { .response($0) } ?? .unexplained
        default: return nil
        }
    }

    /// Returns the updated validators if a loader returned the known bytes. The entry gets the new metadata if they differ: with
    /// them, the next refresh may need no body, or not be needed.
    private func unchanged(_ loaded: LoadedImageData, _ known: CachedValidators) -> CachedValidators? {
        guard !loaded.data.isEmpty, loaded.data.contentHash == known.contentHash, rule.admits(loaded.response) else {
            return nil
        }
        let validators = rule.validators(of: loaded.response, receivedHash: known.validators?.receivedHash)
        return amended(known, validators, loaded.response)
    }

    /// Returns the validators updated by a 304, also in the entry; nil if the 304 is about other bytes.
    private func renewed(_ known: CachedValidators, by answer: NotModified) -> CachedValidators? {
        guard case .response(let response) = answer else { return known }
        return rule.renewed(known.validators, by: response).map { amended(known, $0, response) }
    }

    private func amended(
        _ known: CachedValidators,
        _ validators: CacheValidators?,
        _ response: HTTPResponse?
    ) -> CachedValidators {
        if var validators, validators != known.validators {
            validators.subject.value = known.contentHash
            var request = ImageStoreRequest(key: cacheKey)
            request.cacheType = .disk
            request.validators = validators
            if let scope = plan.value.sharingScope, original.serializer == nil, let response {
                rule.shareConfirmed(&request, as: scope, response)
            }
            cache.amend(request)
        }
        return CachedValidators(validators: validators, contentHash: known.contentHash)
    }
}

extension HTTPStaleFallback {
    /// Returns whether the stored response is used after this error.
    func allows(_ error: WebImageError) -> Bool {
        switch error.code {
        case .timedOut, .cannotFindHost, .cannotConnectToHost, .networkConnectionLost, .secureConnectionFailed,
            .transportFailed, .hostUnavailable:
            whenUnreachable
        case .invalidDownloadStatusCode: whenServerFails && [500, 502, 503, 504].contains(error.statusCode)
        default: false
        }
    }
}
