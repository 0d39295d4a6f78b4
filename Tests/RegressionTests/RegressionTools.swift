import Dispatch
import FoundationEssentials
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageCache
@testable import WebImageHTTP
@testable import WebImageLoading

/// A loader that responds at once, and counts.
final class StaticLoader: ImageLoading {
    private let answer: @Sendable (URL) -> Result<Data, WebImageError>
    private let asked = Lock<[URL]>([])

    init(_ answer: @escaping @Sendable (URL) -> Result<Data, WebImageError>) { self.answer = answer }

    var count: Int { asked.withLock { $0.count } }

    func canLoad(_ url: URL, options: WebImageOptions) -> Bool { true }

    func load(
        _ request: ImageLoadRequest,
        progress: @escaping @Sendable (LoadProgress) -> Void,
        completion: @escaping @Sendable (Result<LoadedImageData, WebImageError>) -> Void
    ) -> any ImageLoaderOperation {
        asked.withLock { $0.append(request.url) }
        completion(answer(request.url).map { LoadedImageData(data: $0) })
        return FinishedLoadOperation()
    }

    func shouldBlockFailedURL(_ url: URL, error: WebImageError) -> Bool { error.code == .badImageData }
}

/// The shared coders, counted.
final class CountedCoders: ImageCoder {
    private let count = Lock(0)

    var decodeCount: Int { count.withLock { $0 } }

    func canDecode(_ data: Data) -> Bool { ImageCodersManager.shared.canDecode(data) }
    func properties(of data: Data, limits: ImageLimits) throws(WebImageError) -> ImageProperties {
        try ImageCodersManager.shared.properties(of: data, limits: limits)
    }
    func decode(_ data: Data, options: ImageDecodeOptions) throws(WebImageError) -> Image {
        count.withLock { $0 += 1 }
        return try ImageCodersManager.shared.decode(data, options: options)
    }
    func canEncode(to format: ImageFormat) -> Bool { ImageCodersManager.shared.canEncode(to: format) }
    func encode(_ image: Image, to format: ImageFormat, options: ImageEncodeOptions) throws(WebImageError) -> Data {
        try ImageCodersManager.shared.encode(image, to: format, options: options)
    }
}

/// A manager with real caches in its own directory, real coders, and a loader that responds at once.
struct ImageHarness {
    let directory = TemporaryDirectory()
    let cache: ImageCache
    let loader: StaticLoader
    let coder = CountedCoders()
    let manager: WebImageManager
    let url = URL(string: "http://host/picture")!

    init(
        clock: ClockSource = .system,
        config change: (inout ImageCacheConfig) -> Void = { _ in },
        _ answer: @escaping @Sendable (URL) -> Result<Data, WebImageError>
    ) {
        var config = ImageCacheConfig()
        change(&config)
        cache = ImageCache(path: directory.path("cache"), config: config, clock: clock)
        loader = StaticLoader(answer)
        manager = WebImageManager(cache: cache, loader: loader, pipeline: Pipeline())
    }

    /// A harness of one image.
    init(fixture: String) throws {
        let data = try Fixtures.data(fixture)
        self.init { _ in .success(data) }
    }

    func context(_ change: (inout WebImageContext) -> Void = { _ in }) -> WebImageContext {
        .with { context in
            context.imageCoder = coder
            context.callbackQueue = .inline
            change(&context)
        }
    }

    /// Loads, and waits until everything of it is on disk.
    func load(
        _ url: URL? = nil,
        options: WebImageOptions = [],
        _ change: (inout WebImageContext) -> Void = { _ in }
    ) async throws -> WebImageResult {
        let result = try await manager.result(
            with: url ?? self.url,
            options: options.union(.waitStoreCache),
            context: context(change)
        )
        await cache.flush()
        return result
    }

    /// Returns the error of a load; nil when it succeeds.
    func error(_ url: URL? = nil, options: WebImageOptions = []) async -> WebImageError? {
        do throws(WebImageError) {
            _ = try await manager.result(with: url ?? self.url, options: options, context: context())
            return nil
        } catch {
            return error
        }
    }
}

/// An image of each kind of file, with the pixels that other programs decode.
enum TestImages {
    static let still = ["JPEG/photo.jpg", "PNG/photo-rgb.png", "GIF/photo.gif", "WebP/lossy.webp"]
    static let animated = ["PNG/animated.png", "GIF/animated.gif", "WebP/animated.webp"]
}

/// Returns whether two images have the same pixels.
func haveSamePixels(_ left: Image, _ right: Image) -> Bool {
    let (left, right) = (left.bitmap, right.bitmap)
    guard left.width == right.width, left.height == right.height else { return false }
    return (0..<left.height).allSatisfy { y in
        (0..<left.width).allSatisfy { left.premultipliedRGBA(x: $0, y: y) == right.premultipliedRGBA(x: $0, y: y) }
    }
}

/// A queue that stands for the main one, on which tests do not run.
struct SerialQueue: Sendable {
    private let queue = DispatchQueue(label: "webimage.test")

    /// For callbacks: inline where the code already runs on the queue, as callbacks of the main queue on the main
    /// thread.
    var callbacks: CallbackQueue { CallbackQueue(queue, policy: .safeExecute) }

    /// Runs `body` on the queue.
    @discardableResult
    func run<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in queue.async { continuation.resume(returning: body()) } }
    }
}
