import FoundationEssentials
import TestSupport
import WebImage

@testable import WebImageHTTP
@testable import WebImageLoading

/// A transport that does what a test says.
final class FakeTransport: HTTPTransport {
    final class Transfer: HTTPTransfer {
        let number: Int
        let request: HTTPTransferRequest
        let sink: any HTTPTransferSink
        private let cancelled = Lock(false)

        init(number: Int, request: HTTPTransferRequest, sink: any HTTPTransferSink) {
            self.number = number
            self.request = request
            self.sink = sink
        }

        var isCancelled: Bool { cancelled.withLock { $0 } }
        func cancel() { cancelled.withLock { $0 = true } }

        /// Sends a head; what the sink says.
        @discardableResult
        func respond(_ status: Int = 200, headers: HTTPHeaders = [:]) -> WebImageError? {
            sink.didReceive(HTTPResponse(url: request.url, statusCode: status, headers: headers))
        }

        @discardableResult
        func send(_ bytes: [UInt8]) -> WebImageError? { bytes.withUnsafeBytes { sink.didReceive($0) } }

        func end(_ error: WebImageError? = nil) { sink.didFinish(error, metrics: DownloadMetrics()) }

        /// Head, body and end.
        func complete(_ bytes: [UInt8]) {
            if let error = respond(headers: ["Content-Length": "\(bytes.count)"]) { return end(error) }
            end(send(bytes))
        }
    }

    private let state = Monitor<(transfers: [Transfer], isInvalidated: Bool)>(([], false))

    var transfers: [Transfer] { state.withLock { $0.transfers } }
    func transfers(from number: Int) -> [Transfer] { state.withLock { Array($0.transfers[number...]) } }
    var isInvalidated: Bool { state.withLock { $0.isInvalidated } }

    /// Suspends until a transfer has been started.
    func firstTransfer() async -> Transfer {
        let state = state
        return await withCheckedContinuation { continuation in
            startThread {
                guard let transfer = state.wait(until: { $0.transfers.first }) else { return }
                continuation.resume(returning: transfer)
            }
        }
    }

    /// Lets go of the transfers so far.
    func forgetTransfers() {
        let former = state.withLock { state -> [Transfer] in
            defer { state.transfers = [] }
            return state.transfers
        }
        withExtendedLifetime(former) {}
    }

    func start(_ request: HTTPTransferRequest, sink: any HTTPTransferSink) -> any HTTPTransfer {
        state.withLock { state in
            let transfer = Transfer(number: state.transfers.count, request: request, sink: sink)
            state.transfers.append(transfer)
            return transfer
        }
    }

    func invalidate() { state.withLock { $0.isInvalidated = true } }
}

/// What a caller of a download saw.
final class Recorder: Sendable {
    struct Log {
        var progress: [LoadProgress] = []
        var results: [Result<LoadedImageData, WebImageError>] = []
        var progressAfterEnd = 0
    }

    private let log = Monitor(Log())

    var progress: [LoadProgress] { log.withLock { $0.progress } }
    var results: [Result<LoadedImageData, WebImageError>] { log.withLock { $0.results } }
    var progressAfterEnd: Int { log.withLock { $0.progressAfterEnd } }

    var data: Data? { results.first.flatMap { try? $0.get().data } }
    var code: WebImageError.Code? { error?.code }
    var error: WebImageError? {
        guard case .failure(let error)? = results.first else { return nil }
        return error
    }

    @Sendable func onProgress(_ progress: LoadProgress) {
        log.withLock { log in
            log.progress.append(progress)
            if !log.results.isEmpty { log.progressAfterEnd += 1 }
        }
    }

    @Sendable func onEnd(_ result: Result<LoadedImageData, WebImageError>) {
        log.withLock { $0.results.append(result) }
    }

    /// Suspends until the end came.
    func end() async {
        let log = log
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            startThread {
                _ = log.wait { $0.results.isEmpty ? nil : true }
                continuation.resume()
            }
        }
    }
}

extension WebImageDownloader {
    /// A downloader whose callers hear of progress at once, and share with nobody else's.
    convenience init(config: WebImageDownloaderConfig = .default, transport: FakeTransport) {
        self.init(core: DownloaderCore(config: config, transport: transport), pipeline: .prompt)
    }

    @discardableResult
    func start(
        _ url: URL,
        _ recorder: Recorder,
        options: WebImageOptions = [],
        headers: HTTPHeaders = [:]
    ) -> WebImageDownloadToken {
        start(
            ImageLoadRequest(url: url, options: options, priority: options.priority, additionalHeaders: headers),
            progress: recorder.onProgress,
            completion: recorder.onEnd
        )
    }
}

extension Pipeline {
    /// A pipeline that calls progress closures on the thread that finds out about progress.
    static var prompt: Pipeline { Pipeline(progressQueue: .inline) }
}

func testURL(_ path: String) -> URL { URL(string: "http://example.test\(path)") ?? URL(filePath: "/") }

/// The error a download ends with; nil when it does not fail.
func downloadError(
    _ downloader: WebImageDownloader,
    _ url: URL,
    options: WebImageOptions = []
) async -> WebImageError? {
    do throws(WebImageError) {
        _ = try await downloader.downloadData(with: url, options: options)
        return nil
    } catch {
        return error
    }
}

/// Bytes that differ along the way.
func pattern(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) } }
