import FoundationEssentials
import WebImage

/// Preloads images that may be opened next.
@MainActor
final class NeighbourPreloader {
    private let manager: WebImageManager
    private var operations: [URL: WebImageLoadOperation] = [:]

    init(manager: WebImageManager) { self.manager = manager }

    /// Loads images, the first one first, and cancels all other loads.
    func load(_ urls: [URL], context: WebImageContext) {
        for (url, operation) in operations where !urls.contains(url) {
            operation.cancel()
            operations[url] = nil
        }
        for url in urls where operations[url].map({ $0.isFinished }) ?? true {
            operations[url] = manager.loadImage(with: url, options: .lowPriority, context: context) { _ in }
        }
    }

    /// The number of loads in progress.
    var pendingCount: Int { operations.values.count { !$0.isFinished } }

    /// Cancels all loads.
    func cancel() {
        for operation in operations.values { operation.cancel() }
        operations = [:]
    }
}
