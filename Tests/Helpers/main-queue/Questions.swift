import Dispatch
import FoundationEssentials
import TestSupport
import WebImage

/// The calls whose callbacks are looked at.
final class Questions: Sendable {
    private static let queues: [(String, CallbackQueue)] = [
        ("main", .main),
        ("safe-execute", CallbackQueue(.main)),
        ("safe-async", CallbackQueue(DispatchQueue(label: "other"), policy: .safeAsyncMainThread)),
        ("dispatch", CallbackQueue(.main, policy: .dispatch)),
        ("invoke", CallbackQueue(.main, policy: .invoke)),
    ]

    private let facts: Facts
    private let cache: ImageCache
    private let manager: WebImageManager
    private let directory = TemporaryDirectory()
    private let cached = "drawing://cached"

    init(_ facts: Facts) {
        self.facts = facts
        cache = ImageCache(directory: directory.path)
        cache.storeToMemory(.tiny(), forKey: cached)
        let loader = ClosureImageLoader(canLoad: { url, _ in url.scheme == "drawing" }) { _, _ in
            LoadedImageData(image: .tiny())
        }
        manager = WebImageManager(cache: cache, loader: loader)
    }

    /// How many facts one round of questions brings.
    var count: Int { Self.queues.count + 4 }

    /// Asks on the calling thread, which is called `caller`.
    func ask(from caller: String) {
        for (name, queue) in Self.queues { facts.note("\(name)/\(caller)") { queue.async($0) } }
        facts.note("load-hit/\(caller)") { end in manager.loadImage(with: cached) { _ in end() } }
        facts.note("load-miss/\(caller)") { end in manager.loadImage(with: "drawing://\(caller)") { _ in end() } }
        facts.note("query-hit/\(caller)") { end in cache.queryImage(forKey: cached) { _ in end() } }
        facts.note("query-miss/\(caller)") { end in cache.queryImage(forKey: "missing \(caller)") { _ in end() } }
    }
}
