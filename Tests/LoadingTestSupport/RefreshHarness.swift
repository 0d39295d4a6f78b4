package import FoundationEssentials
package import ModelTestSupport
package import WebImageLoading

/// A loader that responds like a server with one image.
package final class FakeServer: ImageLoading {
    package struct Content {
        package var text = "old"
        package var etag: String?
        package var lastModified: String?
        /// The validators of a 304, if not those of the image.
        package var renewed = HTTPHeaders()
        /// The fields of a 200 besides the validators.
        package var headers = HTTPHeaders()
        /// Replaces the image.
        package var status: Int?
        package var error: WebImageError?
        package var serves = true
        /// Responses wait until they are released.
        package var isHeld = false
        package var loads: [FakeLoader.Load] = []
        fileprivate var held: [FakeLoader.Load] = []
    }

    private let content: Lock<Content>
    private let started = EventCounter()

    package init(_ text: String, etag: String? = nil) {
        var first = Content()
        (first.text, first.etag) = (text, etag)
        content = Lock(first)
    }

    package func edit<Result>(_ body: (inout Content) -> Result) -> Result { content.withLock(body) }

    /// Replaces the image, with another validator if it has one.
    package func publish(_ text: String, etag: String? = nil) { edit { ($0.text, $0.etag) = (text, etag) } }

    package var requests: [ImageLoadRequest] { edit { $0.loads.map(\.request) } }

    package func waitForLoads(_ count: Int) async { await started.wait(for: count) }

    package func release() {
        let held = edit { content in
            defer { (content.held, content.isHeld) = ([], false) }
            return content.held
        }
        for load in held { load.answer(answer(to: load.request)) }
    }

    /// Takes the held responses. The returned closure sends them with the server's state at the time of this call.
    package func takeHeldAnswers() -> @Sendable () -> Void {
        let held = edit { content in
            defer { content.held = [] }
            return content.held
        }
        let answers = held.map { (load: $0, answer: answer(to: $0.request)) }
        return { for (load, answer) in answers { load.answer(answer) } }
    }

    package func canLoad(_ url: URL, options: WebImageOptions) -> Bool { edit { $0.serves } }

    package func load(
        _ request: ImageLoadRequest,
        progress: @escaping @Sendable (LoadProgress) -> Void,
        completion: @escaping @Sendable (Result<LoadedImageData, WebImageError>) -> Void
    ) -> any ImageLoaderOperation {
        let load = FakeLoader.Load(request, progress, completion)
        let isHeld = edit { content -> Bool in
            content.loads.append(load)
            if content.isHeld { content.held.append(load) }
            return content.isHeld
        }
        started.signal()
        if !isHeld { load.answer(answer(to: request)) }
        return load
    }

    package func shouldBlockFailedURL(_ url: URL, error: WebImageError) -> Bool { error.code == .badImageData }

    private func answer(to request: ImageLoadRequest) -> Result<LoadedImageData, WebImageError> {
        edit { content in
            if let error = content.error { return .failure(error) }
            if let status = content.status {
                let response = HTTPResponse(url: request.url, statusCode: status, headers: content.headers)
                let code: WebImageError.Code = status == 304 ? .cacheNotModified : .invalidDownloadStatusCode
                return .failure(WebImageError(code, "no", statusCode: status, response: response))
            }
            let fields = request.additionalHeaders
            let isKnown =
                content.etag != nil && fields["If-None-Match"] == content.etag
                || content.lastModified != nil && fields["If-Modified-Since"] == content.lastModified
            if isKnown {
                let response = HTTPResponse(url: request.url, statusCode: 304, headers: content.renewed)
                return .failure(
                    WebImageError(.cacheNotModified, "nothing newer", statusCode: 304, response: response)
                )
            }
            var headers = content.headers
            headers["ETag"] = content.etag
            headers["Last-Modified"] = content.lastModified
            let response = HTTPResponse(url: request.url, statusCode: 200, headers: headers)
            return .success(LoadedImageData(data: Data(content.text.utf8), response: response))
        }
    }
}

/// The deliveries of one load.
package final class Deliveries: Sendable {
    private let list = Lock<[Result<WebImageResult, WebImageError>]>([])
    private let called = EventCounter()
    private let ended = EventCounter()

    package init() {}

    package func record(_ result: Result<WebImageResult, WebImageError>) {
        list.withLock { $0.append(result) }
        called.signal()
    }

    package func noteEnd() { ended.signal() }

    package var all: [Result<WebImageResult, WebImageError>] { list.withLock { $0 } }

    package func wait(for count: Int) async { await called.wait(for: count) }

    /// All results, once the load has ended and at least `count` have been delivered.
    package func all(atLeast count: Int) async -> [Result<WebImageResult, WebImageError>] {
        await called.wait(for: count)
        await ended.wait(for: 1)
        return all
    }

    /// The bytes of the results, when the load has ended; an error's code in place of bytes.
    package func texts(atLeast count: Int) async -> [String] {
        await all(atLeast: count).map { result in
            switch result {
            case .success(let result): result.data.map { String(decoding: $0, as: UTF8.self) } ?? "image"
            case .failure(let error): "error \(error.code.rawValue)"
            }
        }
    }
}

/// A manager on a fake cache and a server with one image.
package struct RefreshHarness {
    package let cache: any ImageCaching
    package let coder = PlainCoder()
    package let server: FakeServer
    package let manager: WebImageManager
    package let url = URL(string: "http://host/picture.png")!

    package init(
        _ text: String,
        etag: String? = nil,
        cache: any ImageCaching = FakeCache(),
        clock: ClockSource = .system
    ) {
        self.cache = cache
        server = FakeServer(text, etag: etag)
        manager = WebImageManager(cache: cache, loader: server, pipeline: Pipeline(), clock: clock)
    }

    package var key: String { url.absoluteString }
    package var fake: FakeCache { cache as! FakeCache }
    package var disk: [String: CachedImageData] { fake.edit { $0.disk } }

    /// The entry's validators for a request to the server.
    package var validators: CacheValidators? {
        let stored = disk[key]?.validators
        return CacheValidators(
            etag: stored?.etag,
            lastModified: stored?.lastModified,
            receivedHash: stored?.receivedHash
        )
    }

    /// Puts an entry on disk, as another process would.
    package func put(_ text: String, etag: String? = nil, lastModified: String? = nil) {
        let validators = CacheValidators(etag: etag, lastModified: lastModified)
        fake.edit { $0.disk[key] = CachedImageData(data: Data(text.utf8), validators: validators) }
    }

    package func context(_ change: (inout WebImageContext) -> Void = { _ in }) -> WebImageContext {
        var context = WebImageContext()
        context.imageCoder = coder
        context.callbackQueue = .inline
        change(&context)
        return context
    }

    package func thumbnail(_ side: Int) -> WebImageContext {
        context { $0.thumbnailPixelSize = ImageSize(width: side, height: side) }
    }

    @discardableResult
    package func start(
        _ options: WebImageOptions = .refreshCached,
        context: WebImageContext? = nil
    ) -> (operation: WebImageLoadOperation, deliveries: Deliveries) {
        let deliveries = Deliveries()
        let operation = manager.loadImage(
            with: url,
            options: options,
            context: context ?? self.context(),
            end: { deliveries.noteEnd() },
            completion: { deliveries.record($0) }
        )
        return (operation, deliveries)
    }

    /// An ordinary load, with everything stored.
    package func load(context: WebImageContext? = nil) async {
        _ = await start(.waitStoreCache, context: context).deliveries.all(atLeast: 1)
    }
}
