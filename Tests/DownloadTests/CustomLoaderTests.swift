import FoundationEssentials
import HTTPTestSupport
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImage

/// Custom loaders, by themselves and behind the manager.
@Suite struct CustomLoaderTests {
    private struct Trouble: Error, Equatable {}

    private let harness = ManagerHarness()
    private let url = URL(string: "avatar://someone")!

    private func load(_ loader: ClosureImageLoader, _ recorder: Recorder) -> any ImageLoaderOperation {
        loader.load(ImageLoadRequest(url: url), progress: recorder.onProgress, completion: recorder.onEnd)
    }

    @Test func `A closure is a loader that completes once`() async {
        let loader = ClosureImageLoader(scheme: "Avatar") { request in Data(request.url.absoluteString.utf8) }
        #expect(loader.canLoad(url, options: []))
        #expect(loader.canLoad(URL(string: "AVATAR://x")!, options: []))
        #expect(!loader.canLoad(testURL("/a"), options: []) && !loader.canLoad(URL(string: "avatar")!, options: []))
        let recorder = Recorder()
        let operation = load(loader, recorder)
        await recorder.end()
        operation.setPriority(.high)
        operation.cancel()
        #expect(recorder.data == Data("avatar://someone".utf8) && recorder.results.count == 1)
        #expect(!operation.isCancelled)
    }

    @Test func `An error thrown by the closure is reported with the URL`() async {
        let recorder = Recorder()
        _ = load(ClosureImageLoader(scheme: "avatar") { _ in throw Trouble() }, recorder)
        await recorder.end()
        #expect(recorder.code == .transportFailed && recorder.error?.url == url)
        #expect(recorder.error?.underlyingError as? Trouble == Trouble())
        let own = Recorder()
        _ = load(ClosureImageLoader(scheme: "avatar") { _ in throw WebImageError(.fileNotFound, "gone") }, own)
        await own.end()
        #expect(own.code == .fileNotFound && own.error?.url == url)
        let cancelled = Recorder()
        _ = load(ClosureImageLoader(scheme: "avatar") { _ in throw CancellationError() }, cancelled)
        await cancelled.end()
        #expect(cancelled.code == .cancelled)
    }

    @Test func `Cancelling ends a load at once and cancels its task`() async {
        let (begun, ended) = (EventCounter(), EventCounter())
        let loader = ClosureImageLoader(scheme: "avatar") { _ in
            begun.signal()
            while !Task.isCancelled { await Task.yield() }
            ended.signal()
            return Data([1])
        }
        let recorder = Recorder()
        let operation = load(loader, recorder)
        await begun.wait(for: 1)
        operation.cancel()
        #expect(recorder.code == .cancelled && operation.isCancelled)
        await ended.wait(for: 1)
        #expect(recorder.results.count == 1)
    }

    @Test func `Progress is reported in order and never after the end`() async {
        let late = Lock<(@Sendable (LoadProgress) -> Void)?>(nil)
        let loader = ClosureImageLoader(canLoad: { _, _ in true }) { _, report in
            report(LoadProgress(receivedByteCount: 1, expectedByteCount: 2))
            report(LoadProgress(receivedByteCount: 2, expectedByteCount: 2))
            late.withLock { $0 = report }
            return LoadedImageData(data: Data([1, 2]))
        }
        let recorder = Recorder()
        _ = load(loader, recorder)
        await recorder.end()
        late.withLock { $0 }?(LoadProgress(receivedByteCount: 3, expectedByteCount: 3))
        #expect(recorder.progress.map(\.receivedByteCount) == [1, 2] && recorder.progressAfterEnd == 0)
    }

    @Test func `The context's loader is used for the load`() async throws {
        let seen = Lock<[ImageLoadRequest]>([])
        let loader = ClosureImageLoader(scheme: "avatar") { request in
            seen.withLock { $0.append(request) }
            return Data("picture".utf8)
        }
        let context = harness.context {
            $0.imageLoader = loader
            $0.additionalHeaders = ["X-Who": "me"]
            $0.retryPolicy = .exact
        }
        let image = try await harness.start(url, options: .handleCookies, context: context).outcome.image()
        #expect(image.pixelWidth == 4 && harness.loader.loads.isEmpty)
        let request = try #require(seen.withLock { $0 }.first)
        #expect(request.additionalHeaders["X-Who"] == "me" && request.context?.retryPolicy == .exact)
        #expect(request.options == .handleCookies && request.url == url)
    }

    @Test func `Cancelling a load of the manager cancels the loader's task`() async {
        let (begun, ended) = (EventCounter(), EventCounter())
        let loader = ClosureImageLoader(scheme: "avatar") { _ in
            begun.signal()
            while !Task.isCancelled { await Task.yield() }
            ended.signal()
            throw CancellationError()
        }
        let (operation, outcome) = harness.start(url, context: harness.context { $0.imageLoader = loader })
        await begun.wait(for: 1)
        operation.cancel()
        await ended.wait(for: 1)
        #expect(await outcome.error()?.code == .cancelled && outcome.count == 1)
    }

    @Test func `The loader of the URL decides which failures are remembered`() async {
        let asked = Lock<[WebImageError.Code]>([])
        let strict = ClosureImageLoader(
            canLoad: { url, _ in url.scheme == "avatar" },
            shouldBlock: { _, error in
                asked.withLock { $0.append(error.code) }
                return error.code == .timedOut
            },
            load: { _, _ in throw WebImageError(.timedOut, "") }
        )
        let mild = ClosureImageLoader(scheme: "other") { _ in throw WebImageError(.timedOut, "") }
        let loaders = ImageLoadersManager(loaders: [strict, mild])
        let context = harness.context { $0.imageLoader = loaders }
        let other = URL(string: "other://x")!
        #expect(await harness.start(url, context: context).outcome.error()?.code == .timedOut)
        #expect(await harness.start(url, context: context).outcome.error()?.code == .blacklisted)
        #expect(asked.withLock { $0 } == [.timedOut])
        #expect(await harness.start(other, context: context).outcome.error()?.code == .timedOut)
        #expect(await harness.start(other, context: context).outcome.error()?.code == .timedOut)
        #expect(mild.shouldBlockFailedURL(other, error: WebImageError(.badImageData, "")))
        #expect(mild.shouldBlockFailedURL(other, error: WebImageError(.invalidURL, "")))
    }

    @Test func `A URL without a loader loads once one is added`() async throws {
        let loaders = ImageLoadersManager(loaders: [])
        let context = harness.context { $0.imageLoader = loaders }
        #expect(await harness.start(url, context: context).outcome.error()?.code == .invalidURL)
        loaders.add(ClosureImageLoader(scheme: "avatar") { _ in Data("picture".utf8) })
        _ = try await harness.start(url, context: context).outcome.image()
    }

    @Test func `A loader decodes with the request's options`() async throws {
        let coder = PlainCoder()
        var context = WebImageContext()
        context.imageCoder = coder
        context.thumbnailPixelSize = ImageSize(width: 3, height: 1)
        context.imageScaleFactor = 2
        let request = ImageLoadRequest(
            url: url,
            options: [.decodeFirstFrameOnly, .scaleDownLargeImages],
            context: context
        )
        let image = try await request.decode(Data("picture".utf8))
        #expect(image.pixelWidth == 3 && image.scale == 2)
        let options = try #require(coder.decodes.first)
        #expect(options == request.decodeOptions && options.decodeFirstFrameOnly)
        #expect(options.scaleDownLimitBytes == ImageDecodeOptions.defaultScaleDownLimitBytes)
        await #expect(throws: WebImageError(.badImageData, "", url: url)) {
            _ = try await request.decode(Data("bad".utf8))
        }
        let plain = ImageLoadRequest(url: URL(string: "avatar://a@2x.png")!)
        #expect(
            plain.decodeOptions.scaleFactor == 2 && plain.coder as? ImageCodersManager === ImageCodersManager.shared
        )
    }

    @Test func `A loader that returns images needs no bytes`() {
        let image = Image.tiny()
        let loaded = LoadedImageData(image: image)
        #expect(loaded.image === image && loaded.data.isEmpty && loaded.response == nil)
        #expect(LoadedImageData(image: image, data: Data([1])).data == Data([1]))
        #expect(LoadedImageData(data: Data([1])).image == nil)
    }
}
