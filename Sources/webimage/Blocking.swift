import Dispatch

/// Runs blocking code (files, pipes, terminals) on a Dispatch thread, outside Swift's concurrency pool.
func blocking<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        DispatchQueue.global().async { continuation.resume(with: Result { try body() }) }
    }
}
