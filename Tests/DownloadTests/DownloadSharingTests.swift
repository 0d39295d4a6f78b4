import FoundationEssentials
import HTTPTestSupport
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageHTTP
@testable import WebImageLoading

/// Coalescing of a downloader's callers with each other, and with loads of managers.
@Suite(.tags(.threadSanitizer), .timeLimit(.minutes(10))) struct DownloadSharingTests {
    private let transport = FakeTransport()
    private let downloader: WebImageDownloader

    init() { downloader = WebImageDownloader(config: .init(), transport: transport) }

    private var paths: [String] { transport.transfers.map { $0.request.url.path() } }

    @Test
    func `A waiting download has the priority of its most urgent caller, also after joins, changes and cancellations`()
    {
        downloader.config.maxConcurrentDownloads = 1
        downloader.start(testURL("/running"), Recorder())
        downloader.start(testURL("/a"), Recorder(), options: .lowPriority)
        downloader.start(testURL("/b"), Recorder())
        let joined = downloader.start(testURL("/a"), Recorder(), options: .highPriority)
        transport.transfers[0].complete([1])
        #expect(paths.last == "/a")

        let plain = downloader.start(testURL("/c"), Recorder(), options: .lowPriority)
        downloader.start(testURL("/c"), Recorder(), options: .highPriority).cancel()
        transport.transfers[1].complete([1])
        #expect(paths.last == "/b")

        downloader.start(testURL("/d"), Recorder())
        plain.setPriority(.high)
        joined.setPriority(.high)
        transport.transfers[2].complete([1])
        #expect(paths.last == "/c")
        transport.transfers[3].complete([1])
        #expect(paths.last == "/d")
    }

    @Test func `Callers are notified of the end in the order in which they joined`() {
        let order = Lock<[Int]>([])
        let tokens = (0..<50).map { number in
            downloader.downloadData(with: testURL("/a"), callbackQueue: .inline) { result in
                if case .success = result { order.withLock { $0.append(number) } }
            }
        }
        tokens[7].cancel()
        transport.transfers[0].complete([1])
        #expect(order.withLock { $0 } == (0..<50).filter { $0 != 7 })
    }

    @Test func `The order can change while downloads wait, and a limit below one counts as one`() {
        downloader.config.maxConcurrentDownloads = 0
        for path in ["/0", "/1", "/2", "/3"] { downloader.start(testURL(path), Recorder()) }
        #expect(paths == ["/0"])
        downloader.config.executionOrder = .lifo
        transport.transfers[0].complete([1])
        downloader.config.executionOrder = .fifo
        transport.transfers[1].complete([1])
        #expect(paths == ["/0", "/3", "/1"])
    }

    @Test
    func `In a random history every caller completes exactly once, and no two transfers are for the same request`() {
        var random = SeededGenerator(seed: 27)
        downloader.config.maxConcurrentDownloads = 4
        var callers: [(token: WebImageDownloadToken, recorder: Recorder)] = []
        var ended = 0
        for _ in 0..<TestEffort.rounds(6000) {
            switch Int.random(in: 0..<4, using: &random) {
            case 0, 1:
                let priority = LoadPriority.allCases.randomElement(using: &random) ?? .normal
                let recorder = Recorder()
                let token = downloader.start(testURL("/\(Int.random(in: 0..<12, using: &random))"), recorder)
                token.setPriority(priority)
                callers.append((token, recorder))
            case 2:
                guard let caller = callers.randomElement(using: &random) else { continue }
                caller.token.cancel()
            default:
                transport.transfers.randomElement(using: &random)?.complete([1])
            }
            ended += callers.count { !$0.recorder.results.isEmpty }
            #expect(callers.allSatisfy { $0.recorder.results.count <= 1 })
            callers.removeAll { !$0.recorder.results.isEmpty }
            let statistics = downloader.statistics
            #expect(statistics.running <= 4 && statistics.callers == callers.count)
            let open = downloader.core.state.withLock { $0.records.values.map(\.url) }
            #expect(Set(open).count == open.count)
            #expect(Set(open) == Set(callers.map(\.token.url)))
        }
        #expect(ended > TestEffort.rounds(1000))
        downloader.cancelAllDownloads()
        #expect(callers.allSatisfy { $0.recorder.results.count == 1 && $0.token.isCancelled })
    }

    // MARK: With managers

    private func manager(_ loader: any ImageLoading) -> WebImageManager {
        WebImageManager(cache: FakeCache(), loader: loader, pipeline: downloader.pipeline)
    }

    @Test(arguments: [false, true]) func `A manager's load and a download share a transfer, whichever starts first`(
        managerIsFirst: Bool
    ) async throws {
        let manager = manager(ImageLoadersManager(loaders: [downloader]))
        let recorder = Recorder()
        let ends = EventCounter()
        let load: () -> Void = {
            manager.loadImage(with: testURL("/a")) { result in
                if case .success = result { ends.signal() }
            }
        }
        if managerIsFirst { load() }
        _ = await becomes { !managerIsFirst || transport.transfers.count == 1 }
        let token = downloader.start(testURL("/a"), recorder)
        if !managerIsFirst { load() }
        #expect(await becomes { downloader.statistics.callers == 2 })
        #expect(transport.transfers.count == 1 && downloader.currentDownloadCount == 1)
        transport.transfers[0].complete([UInt8](try smallImageData()))
        await ends.wait(for: 1)
        #expect(recorder.data == Data(try smallImageData()))
        #expect(token.request?.url == testURL("/a") && token.response?.statusCode == 200 && token.metrics != nil)
    }

    @Test func `Loads do not join those started before a change of the downloader's settings`() async {
        downloader.config.maxConcurrentDownloads = 100
        let manager = manager(ImageLoadersManager(loaders: [downloader]))
        let changes: [() -> Void] = [
            {},
            { downloader.setValue("1", forHTTPHeaderField: "X-A") },
            {
                downloader.config.username = "u"
                downloader.config.password = "p"
            },
            { downloader.config.sourcePolicy.maximumDuration = 77 },
            { downloader.requestModifier = DownloadRequestModifier { $0 } },
            { downloader.responseModifier = DownloadResponseModifier() },
            { downloader.decryptor = .base64 },
            { downloader.redirectHandler = DownloadRedirectHandler { _, next in .follow(next) } },
        ]
        for (number, change) in changes.enumerated() {
            change()
            manager.loadImage(with: testURL("/a")) { _ in }
            downloader.start(testURL("/a"), Recorder())
            #expect(await becomes { downloader.statistics.callers == 2 * (number + 1) })
            #expect(downloader.currentDownloadCount == number + 1, "change \(number)")
        }
        downloader.config.maxConcurrentDownloads = 101
        downloader.start(testURL("/a"), Recorder())
        #expect(downloader.currentDownloadCount == changes.count, "not every setting counts")
    }

    @Test func `Downloads do not wait for decoding, and others continue`() async throws {
        let pipeline = Pipeline(undecodedByteLimit: 1, progressQueue: .inline)
        let core = DownloaderCore(config: WebImageDownloaderConfig(), transport: transport)
        let downloader = WebImageDownloader(core: core, pipeline: pipeline)
        let held = pipeline.gate.reserve(5)
        let recorder = Recorder()
        downloader.start(testURL("/a"), recorder)
        #expect(transport.transfers.count == 1)
        transport.transfers[0].complete([1, 2, 3])
        #expect(recorder.data?.count == 3 && pipeline.gate.reservedByteCount == 5)
        withExtendedLifetime(held) {}
    }

    @Test func `A download is not stopped by the back-pressure limiter that a load of the same URL waits for`() async {
        let pipeline = Pipeline(undecodedByteLimit: 1, progressQueue: .inline)
        let core = DownloaderCore(config: WebImageDownloaderConfig(), transport: transport)
        let downloader = WebImageDownloader(core: core, pipeline: pipeline)
        let held = pipeline.gate.reserve(5)
        let manager = WebImageManager(cache: FakeCache(), loader: downloader, pipeline: pipeline)
        manager.loadImage(with: testURL("/a")) { _ in }
        #expect(await becomes { pipeline.gate.waitingCount == 1 })
        let recorder = Recorder()
        downloader.start(testURL("/a"), recorder)
        #expect(transport.transfers.count == 1 && pipeline.gate.waitingCount == 0)
        downloader.cancelAllDownloads()
        #expect(recorder.code == .cancelled)
        withExtendedLifetime(held) {}
    }
}

/// Callers of images that join, cancel and change priority at random while others decode.
@Suite(.tags(.threadSanitizer), .timeLimit(.minutes(10))) struct DownloadDecodeStressTests {
    /// Responds to everything at once.
    private final class PromptTransport: HTTPTransport {
        final class Transfer: HTTPTransfer { func cancel() {} }

        func start(_ request: HTTPTransferRequest, sink: any HTTPTransferSink) -> any HTTPTransfer {
            CallbackQueue.global.async {
                var error = sink.didReceive(HTTPResponse(url: request.url, statusCode: 200))
                if error == nil { error = [UInt8](repeating: 1, count: 1).withUnsafeBytes { sink.didReceive($0) } }
                sink.didFinish(error, metrics: DownloadMetrics())
            }
            return Transfer()
        }

        func invalidate() {}
    }

    @Test func `Every remaining caller gets one image, and a cancelled one completes only once`() async {
        let coder = PlainCoder()
        let core = DownloaderCore(config: WebImageDownloaderConfig(), transport: PromptTransport())
        let downloader = WebImageDownloader(core: core, pipeline: Pipeline())
        for round in 0..<50 {
            let ends = (0..<80).map { _ in Lock(0) }
            let all = EventCounter()
            await withTaskGroup(of: Void.self) { group in
                for part in 0..<4 {
                    group.addTask {
                        await onThread {
                            for number in stride(from: part, to: ends.count, by: 4) {
                                var options = ImageDecodeOptions()
                                options.scaleFactor = Double(number % 3 + 1)
                                let token = downloader.downloadImage(
                                    with: testURL("/\(round)"),
                                    decodeOptions: options,
                                    coder: coder,
                                    callbackQueue: .inline
                                ) { _ in
                                    ends[number].withLock { $0 += 1 }
                                    all.signal()
                                }
                                token.setPriority(.high)
                                if Int.random(in: 0..<3) == 0 { token.cancel() }
                            }
                        }
                    }
                }
            }
            await all.wait(for: ends.count)
            #expect(ends.allSatisfy { $0.withLock { $0 } == 1 }, "round \(round)")
        }
        #expect(downloader.currentDownloadCount == 0)
    }
}
