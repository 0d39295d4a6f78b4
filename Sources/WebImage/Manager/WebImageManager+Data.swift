public import FoundationEssentials

extension WebImageManager {
    /// The original bytes of a URL, from the disk cache if they are there, else from the loader, without decoding them.
    /// Shares a download with loads of the same picture. Bytes that come from the loader are not stored, because nothing
    /// has shown yet that they are a picture. Of the load's ``CachePolicy`` holds what holds of images, but that nothing is asked
    /// behind what is stale: the server is asked first.
    ///
    /// - Throws: ``WebImageError``; ``WebImageError/Code/cancelled`` when the task is cancelled,
    ///   ``WebImageError/Code/badImageData`` when a loader made the picture and has no bytes of it.
    public func data(
        with url: URL,
        options: WebImageOptions = [],
        context: WebImageContext? = nil
    ) async throws(WebImageError) -> Data {
        let load = resolve(url, options, context)
        let account = LoadAccount(load, url: url, manager: self)
        let asksDisk = !load.options.contains(.fromLoaderOnly) && load.context?.queryCacheType?.includesDisk ?? true
        do throws(WebImageError) {
            let original = try await original(of: url, load, account.observation)
            totals.noteDisk(.success(.data(original)), wasAsked: asksDisk)
            account.end(.delivered(original.source))
            return original.entry.data
        } catch {
            totals.noteDisk(.failure(error), wasAsked: asksDisk)
            account.end(error.code == .cancelled ? .cancelled : .failed(error))
            throw error
        }
    }

    private func original(
        of url: URL,
        _ load: ResolvedLoad,
        _ observation: LoadObservation?
    ) async throws(WebImageError) -> OriginalData {
        if let refusal = refusal(of: url, load.context) { throw refusal }
        if !load.options.contains(.retryFailed), isFailed(url) { throw .blacklisted(url) }
        // The server is asked before what is stale is served, as nothing is sent twice here.
        var terms = revalidation(url, load)
        if terms?.asksAlways == true { terms = terms?.policy == .immutable ? nil : terms?.byPolicy }
        if terms?.policy == .http, !load.options.contains(.fromCacheOnly),
            let error = knownMissing(at: url, load.context)
        {
            throw error
        }
        let key = originalKey(for: url, context: load.context, parts: load.parts)
        let plan = plan(
            url: url,
            originalKey: key,
            resultKey: key,
            options: load.options,
            context: load.context,
            revalidation: terms,
            permission: permission(for: url)
        )
        let result = await dataResult(plan, load.options.loadPriority, observation)
        switch result {
        case .success(.data(let original)) where !original.isWithoutBytes:
            if original.loaded != nil { noteFound(.init(at: url, load.context)) }
            return original
        case .success: throw WebImageError(.badImageData, "the load brought no data", url: url)
        case .failure(let error):
            noteMissing(error.with(url: url), plan)
            throw error.with(url: url)
        }
    }

    private func dataResult(
        _ plan: LoadPlan,
        _ priority: LoadPriority,
        _ observation: LoadObservation?
    ) async -> WorkResult {
        let (work, pipeline, url) = (plan.decode.original, pipeline, plan.url)
        observation?.noteStart(cacheKey: plan.originalKey ?? "")
        let request = DataRequest()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let late = request.begin(continuation) { end in
                    pipeline.subscribe(
                        to: work,
                        priority: priority,
                        observation: observation,
                        completion: end
                    )
                }
                if let late { pipeline.unsubscribe(late) }
            }
        } onCancel: {
            request.cancel(.cancelled(url)) { pipeline.unsubscribe($0) }
        }
    }
}

/// Resumes a continuation once, whichever of result and cancel comes first.
private final class DataRequest: Sendable {
    private struct State {
        var continuation: CheckedContinuation<WorkResult, Never>?
        var subscription: Pipeline.Subscription?
        var cancellation: WebImageError?
    }

    private let state = Lock(State())

    /// Returns the subscription if the request ended while it was made, for the caller to give up.
    func begin(
        _ continuation: CheckedContinuation<WorkResult, Never>,
        _ subscribe: (@escaping @Sendable (WorkResult) -> Void) -> Pipeline.Subscription?
    ) -> Pipeline.Subscription? {
        let cancellation = state.withLock { state -> WebImageError? in
            if state.cancellation == nil { state.continuation = continuation }
            return state.cancellation
        }
        if let cancellation {
            continuation.resume(returning: .failure(cancellation))
            return nil
        }
        let subscription = subscribe { [self] in end($0) }
        return state.withLock { state in
            // A cancel that came meanwhile has not seen the subscription.
            guard state.continuation != nil, state.cancellation == nil else { return subscription }
            state.subscription = subscription
            return nil
        }
    }

    func cancel(_ error: WebImageError, _ unsubscribe: (Pipeline.Subscription) -> Void) {
        let subscription = state.withLock { state in
            state.cancellation = error
            return state.subscription
        }
        if let subscription { unsubscribe(subscription) }
        end(.failure(error))
    }

    private func end(_ result: WorkResult) {
        let continuation = state.withLock { state in
            defer { state.continuation = nil }
            return state.continuation
        }
        continuation?.resume(returning: result)
    }
}
