import FoundationEssentials

/// A load that is one job on a work queue: one end, whoever comes first, no progress after it.
final class QueuedLoadOperation: ImageLoaderOperation {
    typealias Body =
        @Sendable (_ report: (LoadProgress) -> Void, _ isCancelled: () -> Bool) throws(WebImageError) -> Data

    private let url: URL
    private let receiver: LoadReceiver
    private let item = Lock<WorkItem?>(nil)

    init(
        _ request: ImageLoadRequest,
        on queue: WorkQueue,
        progress: @escaping @Sendable (LoadProgress) -> Void,
        completion: @escaping @Sendable (Result<LoadedImageData, WebImageError>) -> Void,
        body: @escaping Body
    ) {
        let receiver = LoadReceiver(progress: progress, completion: completion)
        self.receiver = receiver
        let url = request.url
        self.url = url
        let submitted = queue.submit(priority: request.priority) {
            do throws(WebImageError) {
                let data = try body({ receiver.post($0) }, { receiver.isCancelled })
                receiver.finish(.success(LoadedImageData(data: data)))
            } catch {
                receiver.finish(.failure(error.with(url: url)))
            }
        }
        item.withLock { $0 = submitted }
    }

    var isCancelled: Bool { receiver.isCancelled }

    func cancel() {
        item.withLock { $0 }?.cancel()
        receiver.finish(.failure(.cancelled(url)))
    }

    func setPriority(_ priority: LoadPriority) { item.withLock { $0 }?.setPriority(priority) }
}
