import Dispatch
import FoundationEssentials
import HTTPTestSupport
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageModel

@Suite(.tags(.threadSanitizer), .timeLimit(.minutes(10))) struct DownloadContextTests {
    private let transport = FakeTransport()
    private let downloader: WebImageDownloader
    private let coder = PlainCoder()

    init() { downloader = WebImageDownloader(config: .init(), transport: transport) }

    private func context(_ change: (inout WebImageContext) -> Void = { _ in }) -> WebImageContext {
        var context = WebImageContext()
        context.callbackQueue = .inline
        context.imageCoder = coder
        change(&context)
        return context
    }

    @Test func `A context sets queue, coder, decode options, fields and hooks`() async throws {
        let results = Lock<[Result<DownloadedImage, WebImageError>]>([])
        let ends = EventCounter()
        let whole = context {
            $0.thumbnailPixelSize = ImageSize(width: 3, height: 1)
            $0.cacheKeyFilter = CacheKeyFilter { _ in "key@3x.png" }
            $0.additionalHeaders["X-Page"] = "7"
            $0.downloadRequestModifier = DownloadRequestModifier { request in
                var request = request
                request.headers["X-Hook"] = "yes"
                return request
            }
            $0.downloadDecryptor = .base64
            $0.imageTransformer = .transformer(FakeTransformer("t"))
        }
        let readings = Lock(0)
        let token = downloader.downloadImage(
            with: testURL("/a"),
            options: [.decodeFirstFrameOnly, .highPriority],
            context: whole,
            progress: { _ in readings.withLock { $0 += 1 } },
            completion: { result in
                results.withLock { $0.append(result) }
                ends.signal()
            }
        )
        let request = transport.transfers[0].request
        #expect(request.headers["X-Page"] == "7" && request.headers["X-Hook"] == "yes")
        transport.transfers[0].complete(Array(Data("picture".utf8).base64EncodedString().utf8))
        await ends.wait(for: 1)
        let downloaded = try results.withLock { $0[0] }.get()
        #expect(downloaded.data == Data("picture".utf8) && downloaded.image.pixelWidth == 3)
        #expect(downloaded.image.scale == 3 && !downloaded.image.metadata.isTransformed)
        #expect(coder.decodes.map(\.decodeFirstFrameOnly) == [true])
        #expect(readings.withLock { $0 } > 0 && token.request?.headers["X-Hook"] == "yes" && ends.count == 1)
    }

    private static let queueName = DispatchSpecificKey<String>()

    @Test
    func `Completions are called on the callback queue, the main queue by default, and progress in the background`()
        async throws
    {
        let own = DispatchQueue(label: "own")
        own.setSpecific(key: Self.queueName, value: "own")
        DispatchQueue.main.setSpecific(key: Self.queueName, value: "main")
        let body = [UInt8](try Fixtures.data("JPEG/baseline-420.jpg"))
        let server = try LoopbackServer { _ in .response(body: body) }
        let downloader = WebImageDownloader()
        let log = Monitor<(ends: [String], progress: Set<String>)>(([], []))
        let here: @Sendable () -> String = { DispatchQueue.getSpecific(key: Self.queueName) ?? "background" }
        let progress: @Sendable (LoadProgress) -> Void = { _ in _ = log.withLock { $0.progress.insert(here()) } }
        let mine = context { context in
            context.callbackQueue = CallbackQueue(own)
            context.imageCoder = nil
        }
        let plain = context { context in
            context.callbackQueue = nil
            context.imageCoder = nil
        }
        let note: @Sendable (Bool) -> Void = { isRight in
            log.withLock { $0.ends.append(isRight ? here() : "wrong") }
        }
        for (number, context) in [mine, plain].enumerated() {
            let url = server.url("/\(number)")
            downloader.downloadImage(with: url, context: context, progress: progress) { result in
                note((try? result.get().image.pixelWidth) == 61)
            }
            #expect(await log.value { $0.ends.count == number * 3 + 1 ? true : nil } == true)
            downloader.downloadData(with: url, context: context, progress: progress) { result in
                note((try? result.get().data) == Data(body))
            }
            #expect(await log.value { $0.ends.count == number * 3 + 2 ? true : nil } == true)
            // Also an end that the caller causes, before the server responds.
            downloader.isSuspended = true
            let token = downloader.downloadData(with: url, context: context) { result in
                note((try? result.get()) == nil)
            }
            token.cancel()
            downloader.isSuspended = false
            #expect(await log.value { $0.ends.count == number * 3 + 3 ? true : nil } == true)
        }
        #expect(log.withLock { $0.ends } == ["own", "own", "own", "main", "main", "main"])
        #expect(log.withLock { $0.progress } == ["background"])
    }

    @Test func `Bytes are delivered with a context, too, and decoded for each caller`() async throws {
        let (downloader, transport) = (downloader, transport)
        let fields = context { $0.additionalHeaders["X-Page"] = "7" }
        let small = context {
            $0.additionalHeaders["X-Page"] = "7"
            $0.thumbnailPixelSize = ImageSize(width: 1, height: 1)
        }
        async let bytes = downloader.downloadData(with: testURL("/a"), context: fields)
        async let image = downloader.downloadImage(with: testURL("/a"), context: small)
        await wait(while: downloader.statistics.callers < 2 || transport.transfers.isEmpty)
        #expect(transport.transfers.count == 1, "equal fields share")
        transport.transfers[0].complete(Array("picture".utf8))
        let (data, thumbnail) = try await (bytes, image)
        #expect(data.data == Data("picture".utf8) && thumbnail.image.pixelWidth == 1)
        let ends = EventCounter()
        let code = Lock<WebImageError.Code?>(nil)
        let token = downloader.downloadData(with: testURL("/b"), context: context()) { result in
            if case .failure(let error) = result { code.withLock { $0 = error.code } }
            ends.signal()
        }
        token.cancel()
        #expect(ends.count == 1 && code.withLock { $0 } == .cancelled)
    }

    @Test func `The context's retry policy applies`() async {
        let policy = DownloadRetryPolicy.never
        let retrying = context { $0.retryPolicy = policy }
        #expect(LoadHooks(retrying.reducedForLoader)?.retryPolicy == policy)
        let outcome = Lock<WebImageError?>(nil)
        let ends = EventCounter()
        downloader.downloadImage(with: testURL("/a"), context: retrying) { result in
            if case .failure(let error) = result { outcome.withLock { $0 = error } }
            ends.signal()
        }
        transport.transfers[0].end(WebImageError(.timedOut, "late"))
        await ends.wait(for: 1)
        #expect(outcome.withLock { $0 }?.code == .timedOut && transport.transfers.count == 1)
    }
}
