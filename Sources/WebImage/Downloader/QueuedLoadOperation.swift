import FoundationEssentials

/// A load that is one job on a work queue: one end, whoever comes first, no progress after it.
final class QueuedLoadOperation: ImageLoaderOperation {
    typealias Body =
        @Sendable (_ report: (LoadProgress) -> Void, _ isCancelled: () -> Bool) throws(WebImageError) -> Data

    private let subscriber: DownloadSubscriber
    private let item = Lock<WorkItem?>(nil)

    init(
        _ request: ImageLoadRequest,
        on queue: WorkQueue,
        progress: @escaping @Sendable (LoadProgress) -> Void,
        completion: @escaping @Sendable (Result<LoadedImageData, WebImageError>) -> Void,
        body: @escaping Body
    ) {
        let subscriber = DownloadSubscriber(url: request.url, onProgress: progress, completion: completion)
        self.subscriber = subscriber
        let url = request.url
        let submitted = queue.submit(priority: request.priority) {
            do throws(WebImageError) {
                let data = try body({ subscriber.post($0) }, { subscriber.isCancelled })
                subscriber.finish(.success(LoadedImageData(data: data)))
            } catch {
                subscriber.finish(.failure(error.with(url: url)))
            }
        }
        item.withLock { $0 = submitted }
    }

    var isCancelled: Bool { subscriber.isCancelled }

    func cancel() {
        item.withLock { $0 }?.cancel()
        subscriber.finish(.failure(.cancelled(subscriber.url)))
    }

    func setPriority(_ priority: LoadPriority) { item.withLock { $0 }?.setPriority(priority) }
}
