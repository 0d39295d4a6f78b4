private import CLinux

/// Calls `start` with a completion that must be called exactly once, and returns the value that it is called with.
package func awaitCompletion<Value: Sendable>(
    isolation: isolated (any Actor)? = #isolation,
    _ start: (_ completion: @escaping @Sendable (Value) -> Void) -> Void
) async -> Value {
    // If a continuation is resumed before it is awaited, only the concurrency runtime orders both, and the thread sanitizer does not
    // see that.
    nonisolated(unsafe) let order = webimage_sanitizer_order()
    let value = await withCheckedContinuation { continuation in
        start {
            webimage_sanitizer_release(order)
            continuation.resume(returning: $0)
        }
    }
    webimage_sanitizer_acquire(order)
    return value
}

/// Calls `start` with a completion that must be called exactly once, and returns after that call.
package func awaitCompletion(
    isolation: isolated (any Actor)? = #isolation,
    _ start: (_ completion: @escaping @Sendable () -> Void) -> Void
) async {
    let _: Bool = await awaitCompletion { completion in start { completion(true) } }
}

/// Awaits the completion of a callback API, and cancels its operation when the task is cancelled.
package func awaitOperation<Value: Sendable>(
    _ start: @Sendable (@escaping @Sendable (Value) -> Void) -> any WebImageOperation
) async -> Value {
    let relay = CancellationRelay()
    return await withTaskCancellationHandler {
        await awaitCompletion { relay.attach(start($0)) }
    } onCancel: {
        relay.cancel()
    }
}

/// Like ``awaitOperation(_:)``, for a completion that can deliver an error.
package func awaitResult<Value: Sendable, Failure: Error>(
    _ start: @Sendable (@escaping @Sendable (Result<Value, Failure>) -> Void) -> any WebImageOperation
) async throws(Failure) -> Value { try await awaitOperation(start).get() }

/// Forwards a cancel to an operation that may not exist yet.
private final class CancellationRelay: Sendable {
    private let state = Lock<(operation: (any WebImageOperation)?, isCancelled: Bool)>((nil, false))

    func attach(_ operation: any WebImageOperation) {
        let isCancelled = state.withLock { state -> Bool in
            state.operation = operation
            return state.isCancelled
        }
        if isCancelled { operation.cancel() }
    }

    func cancel() {
        let operation = state.withLock { state -> (any WebImageOperation)? in
            state.isCancelled = true
            return state.operation
        }
        operation?.cancel()
    }
}
