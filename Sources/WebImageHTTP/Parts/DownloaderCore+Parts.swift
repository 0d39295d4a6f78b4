import FoundationEssentials

/// Loads of videos, of which only parts are requested.
extension DownloaderCore {
    /// Requests the first part of a video, and completes with a source that requests the others. Other files are downloaded as a whole then. Nil for
    /// requests whose body must be loaded as a whole: encrypted ones, and those with a range.
    func loadParts(
        _ request: ImageLoadRequest,
        progress: @escaping @Sendable (LoadProgress) -> Void,
        completion: @escaping @Sendable (Result<LoadedImageData, WebImageError>) -> Void
    ) -> (any ImageLoaderOperation)? {
        let (hooks, config) = state.withLock { ($0.hooks, $0.config) }
        let decrypts = hooks.decryptor != nil || request.context?.rare?.values.hooks.decryptor != nil
        guard !decrypts, request.additionalHeaders["Range"] == nil else { return nil }
        let most = max(min(config.value.maximumVideoByteCount, config.maximumResponseByteCount), 1)
        // Under a policy, it is not longer than the policy's limit.
        let seconds = config.value.totalTimeout
        var first = request
        first.part = BodyPart(range: 0..<min(HTTPByteSource.firstByteCount, most), mostOfWhole: most)
        first.additionalHeaders.apply(first.part)
        let load = PartsLoad(priority: request.priority)
        load.run { _ in
            start(first, progress: { _ in }) { [self] result in
                do throws(WebImageError) {
                    let loaded = try result.get()
                    let source = try HTTPByteSource(loaded, of: request, from: self, limit: most, seconds: seconds)
                    if source.isVideo { return completion(.success(source.loaded(loaded))) }
                } catch {
                    return completion(.failure(error.with(url: request.url)))
                }
                load.run { priority in
                    var whole = request
                    (whole.readsParts, whole.priority) = (false, priority)
                    return start(whole, progress: progress, completion: completion)
                }
            }
        }
        return load
    }
}

/// A load that takes one or two downloads, one after the other.
private final class PartsLoad: ImageLoaderOperation {
    private struct State {
        var download: (any ImageLoaderOperation)?
        var runCount = 0
        var priority: LoadPriority
        var isCancelled = false
    }

    private let state: Lock<State>

    init(priority: LoadPriority) { state = Lock(State(priority: priority)) }

    /// Starts a download, which may end before `start` returns, and start the next one.
    func run(_ start: (LoadPriority) -> any ImageLoaderOperation) {
        let (number, priority) = state.withLock { state in
            state.runCount += 1
            return (state.runCount, state.priority)
        }
        let download = start(priority)
        let isCancelled = state.withLock { state in
            if state.runCount == number { state.download = download }
            return state.isCancelled
        }
        if isCancelled { download.cancel() }
    }

    var isCancelled: Bool { state.withLock { $0.isCancelled } }

    func cancel() {
        let download = state.withLock { state in
            state.isCancelled = true
            return state.download
        }
        download?.cancel()
    }

    func setPriority(_ priority: LoadPriority) {
        let download = state.withLock { state in
            state.priority = priority
            return state.download
        }
        download?.setPriority(priority)
    }
}

extension HTTPHeaders {
    /// Adds the fields that ask for a part.
    mutating func apply(_ part: BodyPart?, ifRange validator: PartialValidator? = nil) {
        guard let part else { return }
        self["Range"] = "bytes=\(part.range.lowerBound)-\(part.range.upperBound - 1)"
        self["If-Range"] = validator?.text
    }
}
