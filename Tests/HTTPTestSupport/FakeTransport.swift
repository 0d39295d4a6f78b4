package import FoundationEssentials
import TestSupport
package import WebImageHTTP

/// A transport driven by a test.
package final class FakeTransport: HTTPTransport {
    package final class Transfer: HTTPTransfer {
        package let number: Int
        package let request: HTTPTransferRequest
        package let sink: any HTTPTransferSink
        private let cancelled = Lock(false)

        package init(number: Int, request: HTTPTransferRequest, sink: any HTTPTransferSink) {
            self.number = number
            self.request = request
            self.sink = sink
        }

        package var isCancelled: Bool { cancelled.withLock { $0 } }
        package func cancel() { cancelled.withLock { $0 = true } }

        /// Sends a head; returns the sink's decision.
        @discardableResult
        package func respond(_ status: Int = 200, headers: HTTPHeaders = [:]) -> WebImageError? {
            sink.didReceive(HTTPResponse(url: request.url, statusCode: status, headers: headers))
        }

        @discardableResult
        package func send(_ bytes: [UInt8]) -> WebImageError? { bytes.withUnsafeBytes { sink.didReceive($0) } }

        package func end(_ error: WebImageError? = nil) { sink.didFinish(error, metrics: DownloadMetrics()) }

        /// Head, body and end.
        package func complete(_ bytes: [UInt8]) {
            if let error = respond(headers: ["Content-Length": "\(bytes.count)"]) { return end(error) }
            end(send(bytes))
        }
    }

    private let state = Monitor<(transfers: [Transfer], isInvalidated: Bool)>(([], false))

    package init() {}

    package var transfers: [Transfer] { state.withLock { $0.transfers } }
    package func transfers(from number: Int) -> [Transfer] { state.withLock { Array($0.transfers[number...]) } }
    package var isInvalidated: Bool { state.withLock { $0.isInvalidated } }

    /// Suspends until a transfer has been started.
    package func firstTransfer() async -> Transfer {
        guard let transfer = await valueOnThread({ [state] in state.wait { $0.transfers.first } }) else {
            preconditionFailure("no transfer was started within 30 s")
        }
        return transfer
    }

    /// Releases the transfers so far.
    package func forgetTransfers() {
        let former = state.withLock { state -> [Transfer] in
            defer { state.transfers = [] }
            return state.transfers
        }
        withExtendedLifetime(former) {}
    }

    package func start(_ request: HTTPTransferRequest, sink: any HTTPTransferSink) -> any HTTPTransfer {
        state.withLock { state in
            let transfer = Transfer(number: state.transfers.count, request: request, sink: sink)
            state.transfers.append(transfer)
            return transfer
        }
    }

    package func invalidate() { state.withLock { $0.isInvalidated = true } }
}

/// The events of a download's caller.
package final class Recorder: Sendable {
    package struct Log {
        package var progress: [LoadProgress] = []
        package var results: [Result<LoadedImageData, WebImageError>] = []
        package var progressAfterEnd = 0
    }

    private let log = Monitor(Log())

    package init() {}

    package var progress: [LoadProgress] { log.withLock { $0.progress } }
    package var results: [Result<LoadedImageData, WebImageError>] { log.withLock { $0.results } }
    package var progressAfterEnd: Int { log.withLock { $0.progressAfterEnd } }

    package var data: Data? { results.first.flatMap { try? $0.get().data } }
    package var code: WebImageError.Code? { error?.code }
    package var error: WebImageError? {
        guard case .failure(let error)? = results.first else { return nil }
        return error
    }

    @Sendable package func onProgress(_ progress: LoadProgress) {
        log.withLock { log in
            log.progress.append(progress)
            if !log.results.isEmpty { log.progressAfterEnd += 1 }
        }
    }

    @Sendable package func onEnd(_ result: Result<LoadedImageData, WebImageError>) {
        log.withLock { $0.results.append(result) }
    }

    /// Suspends until the end.
    package func end() async {
        await onThread { [log] in _ = log.wait { $0.results.isEmpty ? nil : true } }
    }
}

/// A fake that claims to check the addresses that it connects to.
package final class CheckingTransport: HTTPTransport {
    package let base = FakeTransport()

    package init() {}

    package var checksAddresses: Bool { true }

    package func start(_ request: HTTPTransferRequest, sink: any HTTPTransferSink) -> any HTTPTransfer {
        base.start(request, sink: sink)
    }

    package func invalidate() { base.invalidate() }
}
