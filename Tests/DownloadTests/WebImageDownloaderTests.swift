import FoundationEssentials
import HTTPTestSupport
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageHTTP

/// The downloader over a transport that the test drives: coalescing, order, progress, ends.
@Suite(.tags(.threadSanitizer), .timeLimit(.minutes(10))) struct WebImageDownloaderTests {
    private let transport = FakeTransport()
    private let downloader: WebImageDownloader

    init() { downloader = WebImageDownloader(config: WebImageDownloaderConfig(), transport: transport) }

    @Test func `Callers of one URL share a transfer and all get its result`() {
        let recorders = (0..<5).map { _ in Recorder() }
        for recorder in recorders { downloader.start(testURL("/a"), recorder) }
        #expect(transport.transfers.count == 1)
        #expect(downloader.currentDownloadCount == 1)
        transport.transfers[0].complete([1, 2, 3])
        for recorder in recorders {
            #expect(recorder.results.count == 1)
            #expect(recorder.data == Data([1, 2, 3]))
        }
        #expect(downloader.currentDownloadCount == 0)
    }

    @Test func `A failure reaches every caller once`() {
        let recorders = (0..<5).map { _ in Recorder() }
        for recorder in recorders { downloader.start(testURL("/a"), recorder) }
        transport.transfers[0].end(WebImageError(.timedOut, "too late"))
        for recorder in recorders {
            #expect(recorder.results.count == 1)
            #expect(recorder.code == .timedOut)
            #expect(recorder.error?.url == testURL("/a"))
        }
    }

    @Test func `Callers with other credentials or fields do not share`() {
        downloader.config.maxConcurrentDownloads = 20
        let url = testURL("/a")
        downloader.start(url, Recorder())
        downloader.start(url, Recorder(), options: .handleCookies)
        downloader.start(url, Recorder(), options: .allowInvalidSSLCertificates)
        downloader.start(url, Recorder(), headers: ["X-A": "1"])
        downloader.setValue("2", forHTTPHeaderField: "X-B")
        downloader.start(url, Recorder())
        downloader.config.username = "u"
        downloader.config.password = "p"
        downloader.start(url, Recorder())
        #expect(transport.transfers.count == 6)
        downloader.start(url, Recorder(), options: [.highPriority, .retryFailed, .scaleDownLargeImages])
        #expect(transport.transfers.count == 6)
        let requests = transport.transfers.map(\.request)
        #expect(requests.map(\.handlesCookies) == [false, true, false, false, false, false])
        #expect(requests.map(\.verifiesCertificates) == [true, true, false, true, true, true])
        #expect(requests.map { $0.credential?.user } == [nil, nil, nil, nil, nil, "u"])
    }

    @Test func `A cancelling caller leaves the others, and the last one ends the transfer`() {
        let (first, second) = (Recorder(), Recorder())
        let firstToken = downloader.start(testURL("/a"), first)
        let secondToken = downloader.start(testURL("/a"), second)
        firstToken.cancel()
        firstToken.cancel()
        #expect(first.code == .cancelled && first.results.count == 1)
        #expect(firstToken.isCancelled && !secondToken.isCancelled)
        #expect(second.results.isEmpty)
        #expect(!transport.transfers[0].isCancelled)
        secondToken.cancel()
        #expect(second.code == .cancelled)
        #expect(transport.transfers[0].isCancelled)
        #expect(downloader.currentDownloadCount == 0)
        transport.transfers[0].complete([1])
        #expect(first.results.count == 1 && second.results.count == 1)
    }

    @Test func `Cancelling after the end changes nothing`() {
        let recorder = Recorder()
        let token = downloader.start(testURL("/a"), recorder)
        transport.transfers[0].complete([1])
        token.cancel()
        #expect(recorder.results.count == 1 && recorder.data == Data([1]))
        #expect(!token.isCancelled)
    }

    @Test func `A URL can be requested again after its end and after cancelling`() {
        downloader.start(testURL("/a"), Recorder()).cancel()
        let recorder = Recorder()
        downloader.start(testURL("/a"), recorder)
        transport.transfers[1].complete([2])
        #expect(recorder.data == Data([2]))
        downloader.start(testURL("/a"), Recorder())
        #expect(transport.transfers.count == 3)
    }

    @Test func `Progress is in order, starts at zero and reaches late callers`() {
        let (early, late) = (Recorder(), Recorder())
        downloader.start(testURL("/a"), early)
        let transfer = transport.transfers[0]
        transfer.respond(headers: ["Content-Length": "10"])
        transfer.send([1, 2, 3])
        let token = downloader.start(testURL("/a"), late)
        #expect(late.progress == [LoadProgress(receivedByteCount: 3, expectedByteCount: 10)])
        #expect(token.response?.statusCode == 200)
        transfer.send([4, 5, 6, 7, 8, 9, 10])
        transfer.end()
        #expect(early.progress.map(\.receivedByteCount) == [0, 3, 10])
        #expect(early.progress.allSatisfy { $0.expectedByteCount == 10 })
        #expect(late.progress.map(\.receivedByteCount) == [3, 10])
        #expect(late.data?.count == 10)
        #expect(token.metrics != nil)
    }

    @Test func `Progress is throttled as configured, and reported at the end`() {
        downloader.config.minimumProgressInterval = 0.25
        let recorder = Recorder()
        downloader.start(testURL("/a"), recorder)
        let transfer = transport.transfers[0]
        transfer.respond(headers: ["Content-Length": "100"])
        for _ in 0..<100 { transfer.send([0]) }
        transfer.end()
        #expect(recorder.progress.map(\.receivedByteCount) == [0, 25, 50, 75, 100])
    }

    @Test func `Progress of unknown length has no total, also for a coded body`() {
        let recorder = Recorder()
        downloader.start(testURL("/a"), recorder)
        transport.transfers[0].respond(headers: ["Content-Length": "2", "Content-Encoding": "gzip"])
        transport.transfers[0].send([1, 2, 3, 4])
        transport.transfers[0].end()
        #expect(recorder.progress.map(\.receivedByteCount) == [0, 4])
        #expect(recorder.progress.allSatisfy { $0.expectedByteCount == nil && $0.fraction == 0 })
        #expect(recorder.data?.count == 4)
    }

    @Test func `A body of another length than announced is a lost connection`() {
        let recorder = Recorder()
        downloader.start(testURL("/a"), recorder)
        transport.transfers[0].respond(headers: ["Content-Length": "10"])
        transport.transfers[0].send([1, 2, 3])
        transport.transfers[0].end()
        #expect(recorder.code == .networkConnectionLost)
    }

    @Test func `The concurrency limit holds, also when changed during downloads`() {
        downloader.config.maxConcurrentDownloads = 2
        for number in 0..<6 { downloader.start(testURL("/\(number)"), Recorder()) }
        #expect(transport.transfers.count == 2)
        #expect(downloader.currentDownloadCount == 6)
        downloader.config.maxConcurrentDownloads = 4
        #expect(transport.transfers.count == 4)
        downloader.config.maxConcurrentDownloads = 1
        for number in 0..<3 { transport.transfers[number].complete([1]) }
        #expect(transport.transfers.count == 4)
        transport.transfers[3].complete([1])
        #expect(transport.transfers.count == 5)
    }

    @Test func `The newest or the oldest waiting download starts first, within its priority`() {
        downloader.config.maxConcurrentDownloads = 1
        downloader.config.executionOrder = .lifo
        for path in ["/0", "/1", "/2"] { downloader.start(testURL(path), Recorder()) }
        downloader.start(testURL("/high"), Recorder(), options: .highPriority)
        downloader.start(testURL("/low"), Recorder(), options: .lowPriority)
        let token = downloader.start(testURL("/raised"), Recorder(), options: .lowPriority)
        token.setPriority(.high)
        for number in 0..<6 { transport.transfers[number].complete([1]) }
        #expect(transport.transfers.map(\.request.url.lastPathComponent) == ["0", "raised", "high", "2", "1", "low"])
    }

    @Test func `Suspending keeps waiting downloads from starting`() {
        downloader.isSuspended = true
        let recorder = Recorder()
        downloader.start(testURL("/a"), recorder)
        #expect(transport.transfers.isEmpty && downloader.isSuspended)
        downloader.isSuspended = false
        #expect(transport.transfers.count == 1)
        transport.transfers[0].complete([1])
        #expect(recorder.data == Data([1]))
    }

    @Test func `A cancelled waiting download never starts`() {
        downloader.config.maxConcurrentDownloads = 1
        downloader.start(testURL("/a"), Recorder())
        let recorder = Recorder()
        downloader.start(testURL("/b"), recorder).cancel()
        #expect(recorder.code == .cancelled)
        transport.transfers[0].complete([1])
        #expect(transport.transfers.count == 1)
    }

    @Test func `Cancelling all ends every caller once`() {
        let recorders = (0..<20).map { _ in Recorder() }
        for (number, recorder) in recorders.enumerated() { downloader.start(testURL("/\(number / 2)"), recorder) }
        downloader.cancelAllDownloads()
        #expect(recorders.allSatisfy { $0.results.count == 1 && $0.code == .cancelled })
        #expect(transport.transfers.allSatisfy { $0.isCancelled })
        #expect(downloader.currentDownloadCount == 0)
        let recorder = Recorder()
        downloader.start(testURL("/a"), recorder)
        transport.transfers.last?.complete([1])
        #expect(recorder.data == Data([1]))
    }

    @Test func `An invalidated downloader refuses, and can let running downloads finish`() {
        let (running, waiting, late) = (Recorder(), Recorder(), Recorder())
        downloader.config.maxConcurrentDownloads = 1
        downloader.start(testURL("/a"), running)
        downloader.start(testURL("/b"), waiting)
        downloader.invalidate(cancelling: false)
        downloader.start(testURL("/c"), late)
        #expect(late.code == .invalidDownloadOperation && late.results.count == 1)
        #expect(!transport.isInvalidated)
        transport.transfers[0].complete([1])
        transport.transfers[1].complete([2])
        #expect(running.data == Data([1]) && waiting.data == Data([2]))
        #expect(transport.isInvalidated)
    }

    @Test func `An invalidated downloader can cancel running downloads`() {
        let recorder = Recorder()
        downloader.start(testURL("/a"), recorder)
        downloader.invalidate(cancelling: true)
        #expect(recorder.code == .cancelled)
        #expect(transport.isInvalidated)
    }

    @Test func `A released downloader cancels running downloads`() {
        let recorder = Recorder()
        let transport = FakeTransport()
        do { WebImageDownloader(config: .init(), transport: transport).start(testURL("/a"), recorder) }
        #expect(recorder.code == .cancelled)
        #expect(transport.transfers[0].isCancelled && transport.isInvalidated)
    }

    @Test func `The shared downloader cannot be invalidated`() async {
        await #expect(processExitsWith: .success) {
            WebImageDownloader.shared.invalidate(cancelling: true)
            let recorder = Recorder()
            WebImageDownloader.shared.isSuspended = true
            let token = WebImageDownloader.shared.start(testURL("/a"), recorder)
            #expect(recorder.results.isEmpty)
            token.cancel()
            WebImageDownloader.shared.isSuspended = false
            #expect(recorder.code == .cancelled)
        }
    }

    @Test func `Cancelling a task cancels its download`() async {
        let downloader = downloader
        let task = Task { await downloadError(downloader, testURL("/a")) }
        await wait(while: transport.transfers.isEmpty)
        task.cancel()
        #expect(await task.value?.code == .cancelled)
        #expect(transport.transfers[0].isCancelled)
        let cancelledBefore = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await downloadError(downloader, testURL("/b"))
        }
        #expect(await cancelledBefore.value?.code == .cancelled)
    }

    @Test func `A caller may cancel and start from its own callbacks`() async {
        let recorder = Recorder()
        let held = Lock<WebImageDownloadToken?>(nil)
        let downloader = downloader
        let token = downloader.downloadData(
            with: testURL("/a"),
            progress: { progress in
                recorder.onProgress(progress)
                held.withLock { $0 }?.cancel()
            },
            callbackQueue: .inline,
            completion: { result in
                recorder.onEnd(result)
                downloader.start(testURL("/next"), Recorder())
            }
        )
        held.withLock { $0 = token }
        transport.transfers[0].respond(headers: ["Content-Length": "10"])
        transport.transfers[0].send([1])
        await recorder.end()
        #expect(recorder.results.count == 1 && recorder.code == .cancelled)
        #expect(recorder.progress.count == 1 && recorder.progressAfterEnd == 0)
        #expect(await becomes { transport.transfers.count == 2 })
    }

    @Test func `Only invalid URLs and bad image data are remembered as failures`() {
        let url = testURL("/")
        let passing: [WebImageError.Code] = [
            .cancelled, .timedOut, .cannotFindHost, .cannotConnectToHost, .networkConnectionLost, .transportFailed,
            .invalidDownloadStatusCode, .invalidDownloadContentType, .badRedirect, .limitExceeded, .cacheNotModified,
            .invalidDownloadOperation, .secureConnectionFailed, .outOfMemory, .hostUnavailable,
            .invalidDownloadResponse,
            .blacklisted, .unsupportedFormat, .encodingFailed, .transformFailed, .notCached, .downloadRefused,
            .fileNotFound, .fileAccessFailed,
        ]
        for code in passing { #expect(!downloader.shouldBlockFailedURL(url, error: WebImageError(code, ""))) }
        for code in [WebImageError.Code.invalidURL, .badImageData] {
            #expect(downloader.shouldBlockFailedURL(url, error: WebImageError(code, "")))
        }
        let certificate = WebImageError(
            .secureConnectionFailed,
            "",
            underlyingError: TransportFailure(code: 60, message: "")
        )
        #expect(downloader.shouldBlockFailedURL(url, error: certificate))
    }

    @Test func `The defaults are the documented ones`() {
        let config = WebImageDownloaderConfig()
        #expect(config.maxConcurrentDownloads == 6 && config.executionOrder == .fifo)
        #expect(config.downloadTimeout == 15 && config.connectTimeout == 10 && config.totalTimeout == 0)
        #expect(config.acceptableStatusCodes == RangeSet(200..<300) && config.acceptableContentTypes == nil)
        #expect(config.maximumResponseByteCount == 64 << 20 && config.maximumRedirectCount == 10)
        #expect(config.hostBackOff == .default && config.hedgeDelay == nil)
        downloader.config.downloadTimeout = 0
        downloader.config.connectTimeout = -1
        downloader.start(testURL("/a"), Recorder())
        #expect(transport.transfers[0].request.idleTimeout == 15)
        #expect(transport.transfers[0].request.connectTimeout == 10)
    }
}
