import FoundationEssentials
import WebImage

/// Loads of pictures that may be wanted next, so that they are in memory then.
@MainActor
final class NeighbourLoads {
    private let manager: WebImageManager
    private var operations: [URL: WebImageLoadOperation] = [:]

    init(manager: WebImageManager) { self.manager = manager }

    /// Loads these, the first one first, and gives up what was under way for others.
    func load(_ urls: [URL], context: WebImageContext) {
        for (url, operation) in operations where !urls.contains(url) {
            operation.cancel()
            operations[url] = nil
        }
        for url in urls where operations[url].map({ $0.isFinished }) ?? true {
            operations[url] = manager.loadImage(with: url, options: .lowPriority, context: context) { _ in }
        }
    }

    /// Loads that are under way.
    var pendingCount: Int { operations.values.count { !$0.isFinished } }

    /// Gives up what is under way.
    func cancel() {
        for operation in operations.values { operation.cancel() }
        operations = [:]
    }
}
