import WebImage

/// A load that a task awaits.
@MainActor
final class AwaitedLoad {
    private var continuation: CheckedContinuation<Result<WebImageResult, WebImageError>, Never>?
    private var operation: WebImageLoadOperation?
    private var isCancelled = false

    private init() {}

    /// Starts a load and waits for its end. Cancelling the task cancels the load.
    ///
    /// - Parameter begin: starts the load with the completion that it is given.
    /// - Throws: the load's error.
    static func result(
        of begin: (_ completed: @escaping ViewLoad.Completion) -> WebImageLoadOperation?
    ) async throws(WebImageError) -> WebImageResult {
        let waiting = AwaitedLoad()
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                waiting.continuation = continuation
                waiting.begin(begin { waiting.end($0) })
            }
        } onCancel: {
            MainLoopQueue.shared.post { waiting.cancel() }
        }
        return try result.get()
    }

    private func begin(_ operation: WebImageLoadOperation?) {
        self.operation = operation
        // A view that is being destroyed starts no load and calls no completion, nor does a slot that is being vacated.
        if operation == nil { end(.failure(WebImageError(.cancelled, "the view did not start the load"))) }
        if isCancelled { operation?.cancel() }
    }

    private func end(_ result: Result<WebImageResult, WebImageError>) {
        // With `avoidAutoSetImage`, previews are reported as well.
        if case .success(let loaded) = result, !loaded.isFinal, loaded.image.metadata.isIncremental { return }
        continuation?.resume(returning: result)
        continuation = nil
    }

    private func cancel() {
        isCancelled = true
        operation?.cancel()
    }
}
