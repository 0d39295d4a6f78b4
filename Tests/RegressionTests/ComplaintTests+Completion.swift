import FoundationEssentials
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageLoading

/// A transformer that fails.
private struct FailingTransformer: ImageTransformer {
    let transformerKey = "failing"
    func transform(_ image: Image) throws(WebImageError) -> Image { throw WebImageError(.transformFailed, "no") }
}

private final class Refusal: WebImageManagerDelegate {
    func imageManager(_ manager: WebImageManager, shouldDownloadImageFor url: URL) -> Bool { false }
}

extension ComplaintTests {
    private typealias End = @Sendable (Result<WebImageResult, WebImageError>) -> Void

    /// A path that a load can take, and the error it ends with.
    private struct Path: Sendable {
        let name: String
        let code: WebImageError.Code?
        /// Starts the load and everything that belongs to it.
        let run: @Sendable (ManagerHarness, @escaping End) async -> Void

        init(
            _ name: String,
            _ code: WebImageError.Code? = nil,
            _ run: @escaping @Sendable (ManagerHarness, @escaping End) async -> Void
        ) {
            (self.name, self.code, self.run) = (name, code, run)
        }
    }

    /// Managers hold their delegates weakly.
    private static let refusal = Refusal()

    private static func load(
        _ harness: ManagerHarness,
        _ end: @escaping End,
        _ options: WebImageOptions = [],
        _ change: (inout WebImageContext) -> Void = { _ in }
    ) -> WebImageLoadOperation {
        harness.manager.loadImage(
            with: harness.url,
            options: options,
            context: harness.context(change),
            completion: end
        )
    }

    private static let beginnings: [Path] = [
        Path("no URL", .invalidURL) { $0.manager.loadImage(with: nil, context: $0.context(), completion: $1) },
        Path("an empty string", .invalidURL) { $0.manager.loadImage(with: "", context: $0.context(), completion: $1) },
        Path("no URL in a string", .invalidURL) {
            $0.manager.loadImage(with: "http://[bad", context: $0.context(), completion: $1)
        },
        Path("a failed URL", .blacklisted) { harness, end in
            let error = WebImageError(.badImageData, "")
            harness.manager.noteEnd(of: harness.url, options: [], loader: harness.loader, error: error)
            _ = load(harness, end)
        },
        Path("memory") { harness, end in
            harness.cache.edit { $0.memory[harness.url.absoluteString] = .tiny() }
            _ = load(harness, end)
        },
        Path("memory and its bytes") { harness, end in
            harness.cache.edit { $0.memory[harness.url.absoluteString] = .tiny() }
            _ = load(harness, end, [.queryMemoryData])
        },
        Path("disk") { harness, end in
            harness.cache.edit { $0.disk[harness.url.absoluteString] = CachedImageData(data: Data("x".utf8)) }
            _ = load(harness, end)
        },
        Path("disk at once") { harness, end in
            harness.cache.edit { $0.disk[harness.url.absoluteString] = CachedImageData(data: Data("x".utf8)) }
            _ = load(harness, end, .queryDiskDataSync)
        },
        Path("a miss with only the cache", .notCached) { _ = load($0, $1, .fromCacheOnly) },
        Path("no key") { harness, end in _ = load(harness, end) { $0.cacheKeyFilter = CacheKeyFilter { _ in nil } } },
        Path("no caches") { harness, end in _ = load(harness, end) { $0.imageCache = ImageCachesManager(caches: []) } },
        Path("no caches and nothing else", .notCached) { harness, end in
            _ = load(harness, end, .fromCacheOnly) { $0.imageCache = ImageCachesManager(caches: []) }
        },
        Path("no loader", .invalidURL) { harness, end in
            _ = load(harness, end) { $0.imageLoader = ImageLoadersManager(loaders: []) }
        },
        Path("a refusal", .downloadRefused) { harness, end in
            harness.manager.delegate = refusal
            _ = load(harness, end)
        },
    ]

    private static let ends: [Path] = [
        Path("a success") { _ = load($0, $1) },
        Path("a success, stored") { _ = load($0, $1, .waitStoreCache) },
        Path("a slow store") { harness, end in
            harness.cache.edit { $0.holdsCompletions = true }
            _ = load(harness, end, .waitStoreCache)
            #expect(await becomes { harness.cache.edit { !$0.heldCompletions.isEmpty } })
            // Others may arrive until then, and continue at once from here.
            harness.cache.edit { $0.holdsCompletions = false }
            harness.cache.releaseCompletions()
        },
        Path("a transformer that fails", .transformFailed) { harness, end in
            _ = load(harness, end) { $0.imageTransformer = .transformer(FailingTransformer()) }
        },
        Path("bytes that are not an image", .badImageData) { harness, end in
            let bad = FakeLoader { _ in .success("bad") }
            _ = load(harness, end) { $0.imageLoader = bad }
        },
        Path("no bytes", .badImageData) { harness, end in
            let empty = StaticLoader { _ in .success(Data()) }
            _ = load(harness, end) { context in
                context.imageLoader = empty
                context.imageCoder = nil
            }
        },
        Path("a failure", .timedOut) { harness, end in
            let failing = FakeLoader { _ in .failure(WebImageError(.timedOut, "")) }
            _ = load(harness, end) { $0.imageLoader = failing }
        },
        Path("refreshing what is not cached") { _ = load($0, $1, .refreshCached) },
        Path("refreshing, and nothing is newer") { harness, end in
            let same = FakeLoader { _ in .failure(WebImageError(.cacheNotModified, "", statusCode: 304)) }
            harness.cache.edit { $0.disk[harness.url.absoluteString] = CachedImageData(data: Data("x".utf8)) }
            _ = load(harness, end, .refreshCached) { $0.imageLoader = same }
        },
        Path("cancelled at once", .cancelled) { harness, end in
            let waiting = FakeLoader()
            load(harness, end) { $0.imageLoader = waiting }.cancel()
        },
        Path("cancelled while it loads", .cancelled) { harness, end in
            let waiting = FakeLoader()
            let operation = load(harness, end) { $0.imageLoader = waiting }
            let load = await waiting.waitForLoads(1)[0]
            operation.cancel()
            harness.manager.cancelAll()
            load.succeed()
        },
        Path("all cancelled", .cancelled) { harness, end in
            let waiting = FakeLoader()
            _ = load(harness, end) { $0.imageLoader = waiting }
            harness.manager.cancelAll()
        },
        Path("the manager is gone") { harness, end in
            let waiting = FakeLoader()
            do {
                let manager = WebImageManager(cache: harness.cache, loader: waiting, pipeline: harness.manager.pipeline)
                manager.loadImage(with: harness.url, context: harness.context(), completion: end)
            }
            await waiting.waitForLoads(1)[0].succeed()
        },
    ]

    @Test func `Complaint 12: every path completes exactly once`() async throws {
        for path in Self.beginnings + Self.ends {
            let (harness, outcome) = (ManagerHarness.answering(), Outcome())
            await path.run(harness) { outcome.record($0) }
            let error = await outcome.error()
            #expect(error?.code == path.code || path.name == "no bytes" && error != nil, "\(path.name)")
            #expect(await harness.manager.pipeline.becomesIdle(), "\(path.name)")
            // Work is over a moment before its load is.
            #expect(await becomes { !harness.manager.isRunning } && outcome.count == 1, "\(path.name)")
        }
    }
}
