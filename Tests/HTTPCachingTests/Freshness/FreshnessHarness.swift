import FoundationEssentials
import LoadingTestSupport
import TestSupport
import WebImage

@testable import WebImageCache

/// A manager with its own cache, a server with one image, and a clock that a test moves.
final class FreshnessHarness {
    let clock = ManualClock()
    let directory: TemporaryDirectory
    let cache: ImageCache
    let refresh: RefreshHarness

    /// - Parameters:
    ///   - cacheControl: `Cache-Control` of the server's responses; nil for none.
    ///   - calls: File operations of the cache.
    init(_ text: String = "one", etag: String? = "\"1\"", cacheControl: String?, calls: FileCalls = .system) {
        directory = TemporaryDirectory()
        cache = ImageCache(path: directory.path("cache"), config: ImageCacheConfig(), clock: .system, calls: calls)
        refresh = RefreshHarness(text, etag: etag, cache: cache, clock: clock.source)
        say(cacheControl)
    }

    var server: FakeServer { refresh.server }
    var manager: WebImageManager { refresh.manager }
    /// The number of loads that the server has seen.
    var requestCount: Int { server.requests.count }

    /// Sets the cache fields of the server's responses from now on.
    func say(_ cacheControl: String?, _ fields: HTTPHeaders = [:]) {
        server.edit { content in
            content.headers = fields
            content.headers["Cache-Control"] = cacheControl
            content.renewed = content.headers
        }
    }

    func context(
        _ policy: CachePolicy = .http,
        _ change: (inout WebImageContext) -> Void = { _ in }
    ) -> WebImageContext {
        refresh.context { context in
            context.cachePolicy = policy
            change(&context)
        }
    }

    /// Returns all deliveries of one load, once it has ended.
    func deliveries(
        _ options: WebImageOptions = [],
        _ context: WebImageContext? = nil,
        atLeast count: Int = 1
    ) async -> [Result<WebImageResult, WebImageError>] {
        await refresh.start(options.union(.waitStoreCache), context: context ?? self.context()).deliveries
            .all(atLeast: count)
    }

    /// Returns the only result of a load.
    func result(_ options: WebImageOptions = [], _ context: WebImageContext? = nil) async throws -> WebImageResult {
        let all = await deliveries(options, context)
        struct NotOne: Error { let count: Int }
        guard all.count == 1 else { throw NotOne(count: all.count) }
        return try all[0].get()
    }

    /// Empties memory, as in a new process.
    func forget() async {
        await cache.flush()
        await cache.clear(.memory)
        cache.forgetValidators()
    }
}

extension ImageCache {
    /// Clears the mark that an entry was read.
    func forgetValidators() { known.withLock { $0.removeAll() } }
}

extension WebImageResult {
    /// The text that the image was decoded from, as ``PlainCoder`` stores it.
    var text: String? { data.map { String(decoding: $0, as: UTF8.self) } }
}
