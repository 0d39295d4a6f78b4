import Dispatch

/// Runs what may block (files, pipes, terminals) on a thread of Dispatch, away from Swift's own few.
func blocking<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        DispatchQueue.global().async { continuation.resume(with: Result { try body() }) }
    }
}
