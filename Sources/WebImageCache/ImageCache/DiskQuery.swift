/// A read of an entry or its metadata, running on a thread of the cache.
final class DiskQuery<Value: Sendable>: ImageLoaderOperation {
    private let result: PendingResult<Value?>

    /// Starts a read. `completion` is called with the result of `body`, or at once with nil on cancellation.
    init(
        on queue: WorkQueue,
        _ priority: LoadPriority,
        isBrief: Bool = false,
        _ completion: @escaping @Sendable (Value?) -> Void,
        _ body: @escaping @Sendable () -> Value?
    ) {
        result = PendingResult(completion)
        let item = queue.submit(priority: priority, isBrief: isBrief) { [result] in
            if result.isWanted { result.finish(body()) }
        }
        result.attach(item)
    }

    func cancel() { result.cancel()?(nil) }

    func setPriority(_ priority: LoadPriority) { result.setPriority(priority) }

    var isCancelled: Bool { result.isCancelled }
}
