/// Awaits the completion of a callback API, and cancels its operation when the task is cancelled.
package func awaitOperation<Value: Sendable>(
    _ start: @Sendable (@escaping @Sendable (Value) -> Void) -> any WebImageOperation
) async -> Value {
    let relay = CancellationRelay()
    return await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
            relay.attach(start { continuation.resume(returning: $0) })
        }
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
