import CTestSupport
import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImageHTTP

/// A slow name service.
@Suite(.tags(.threadSanitizer, .addressSanitizer), .serialized, .timeLimit(.minutes(10))) struct CurlLookupTests {
    private final class Sink: HTTPTransferSink {
        let end = Monitor<WebImageError??>(nil)
        func didReceive(_ response: HTTPResponse) -> WebImageError? { nil }
        func didReceive(_ bytes: UnsafeRawBufferPointer) -> WebImageError? { nil }
        func didFinish(_ error: WebImageError?, metrics: DownloadMetrics) { end.withLock { $0 = .some(error) } }
    }

    /// Starts a transfer whose host is being looked up when this returns.
    private func heldTransfer(_ transport: CurlTransport, _ sink: Sink) async throws -> any HTTPTransfer {
        let url = try #require(URL(string: "http://held.invalid/a.jpg"))
        let transfer = transport.start(HTTPTransferRequest(url: url), sink: sink)
        let isHeld = await withCheckedContinuation { continuation in
            startThread { continuation.resume(returning: ctest_wait_for_held_name(30) != 0) }
        }
        #expect(isHeld)
        return transfer
    }

    @Test func `A transfer cancelled during its lookup does not delay others`() async throws {
        ctest_hold_names(1)
        defer { ctest_hold_names(0) }
        let server = try LoopbackServer { _ in .response(body: [1]) }
        let transport = CurlTransport()
        defer { transport.invalidate() }
        let (first, second) = (Sink(), Sink())
        try await heldTransfer(transport, first).cancel()
        _ = transport.start(HTTPTransferRequest(url: server.url("/a.jpg")), sink: second)
        // The name service has not answered yet.
        let end = await second.end.value { $0 }
        #expect(end == .some(nil) && server.requestCount() == 1)
        #expect(first.end.withLock { $0 == nil })
    }

    @Test func `The time limit of a download includes its lookup`() async throws {
        ctest_hold_names(1)
        defer { ctest_hold_names(0) }
        let transport = CurlTransport()
        defer { transport.invalidate() }
        let url = try #require(URL(string: "http://held.invalid/a.jpg"))
        var request = HTTPTransferRequest(url: url)
        request.totalTimeout = 0.3
        let sink = Sink()
        _ = transport.start(request, sink: sink)
        let end = await sink.end.value { $0 }
        #expect(end??.code == .timedOut)
    }
}
