import FoundationEssentials
import HTTPTestSupport
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageHTTP

/// Records a transport's calls to a sink, and whether they are sequential.
final class SinkLog: HTTPTransferSink {
    struct State {
        var words: [String] = []
        var isInside = false
        var violations = 0
        var metrics: DownloadMetrics?
        var refusal: WebImageError?
    }

    let state: Lock<State>

    /// - Parameter refusal: The response to heads.
    init(refusal: WebImageError? = nil) { state = Lock(State(refusal: refusal)) }

    var words: [String] { state.withLock { $0.words } }
    var metrics: DownloadMetrics? { state.withLock { $0.metrics } }
    var isOver: Bool { metrics != nil }
    /// Calls that overlapped, or followed the end.
    var violations: Int { state.withLock { $0.violations } }

    private func note(_ word: String) {
        state.withLock { state in
            if state.isInside || state.metrics != nil { state.violations += 1 }
            state.isInside = true
            state.words.append(word)
        }
    }

    private func leave() { state.withLock { $0.isInside = false } }

    func didReceive(_ response: HTTPResponse) -> WebImageError? {
        note("\(response.statusCode)")
        defer { leave() }
        return state.withLock { $0.refusal }
    }

    func didReceive(_ bytes: UnsafeRawBufferPointer) -> WebImageError? {
        note("\(bytes.count) bytes")
        leave()
        return nil
    }

    func didFinish(_ error: WebImageError?, metrics: DownloadMetrics) {
        note("end \(error?.code.rawValue ?? 0)")
        state.withLock { state in
            state.metrics = metrics
            state.isInside = false
        }
    }
}

@Suite(.tags(.threadSanitizer)) struct HedgingTransportTests {
    private let inner = FakeTransport()
    private let delays = ManualClock()
    private let sink = SinkLog()
    private let hedging: HedgingTransport

    init() { hedging = HedgingTransport(inner, delays: delays.delays) }

    private var transfers: [FakeTransport.Transfer] { inner.transfers }

    private func request(_ delay: Double? = 1) -> HTTPTransferRequest {
        var request = HTTPTransferRequest(url: testURL("/a"), headers: ["X": "1"])
        request.hedgeDelay = delay
        return request
    }

    private func budget() -> [Int] { hedging.counts.withLock { [$0.transfers, $0.hedges] } }

    // MARK: One request

    @Test func `Without a delay, and for anything but a plain GET, a request is forwarded unchanged`() {
        var posted = request()
        posted.method = "POST"
        var head = request()
        head.method = "HEAD"
        var withBody = request()
        withBody.body = Data([1])
        for request in [request(nil), request(.nan), request(-1), posted, head, withBody] {
            let transfer = hedging.start(request, sink: sink)
            #expect(transfer is FakeTransport.Transfer)
        }
        #expect(transfers.allSatisfy { $0.sink is SinkLog })
        #expect(delays.count == 0 && budget() == [0, 0])
        hedging.invalidate()
        #expect(inner.isInvalidated)
    }

    @Test func `A response in time is the only one`() {
        _ = hedging.start(request(), sink: sink)
        delays.advance(0.9)
        transfers[0].respond(headers: ["Content-Length": "3"])
        #expect(delays.count == 0, "no timer is left")
        delays.advance(10)
        transfers[0].send([1, 2, 3])
        transfers[0].end()
        #expect(transfers.count == 1 && sink.words == ["200", "3 bytes", "end 0"])
        #expect(sink.metrics?.wasHedged == false && budget() == [0, 0])
    }

    @Test func `A failure before the delay is reported, and nothing is sent a second time`() {
        _ = hedging.start(request(), sink: sink)
        transfers[0].end(WebImageError(.cannotConnectToHost, ""))
        #expect(sink.words == ["end 2102"] && delays.count == 0)
        delays.advance(2)
        #expect(transfers.count == 1 && budget() == [0, 0])
    }

    // MARK: Two requests

    @Test func `The second request is the same, and when it is answered first the first is cancelled`() {
        _ = hedging.start(request(), sink: sink)
        delays.advance(1)
        #expect(transfers.count == 2 && budget() == [1, 1])
        #expect(transfers[1].request.url == testURL("/a") && transfers[1].request.headers["X"] == "1")
        #expect(transfers[1].respond() == nil)
        #expect(transfers[0].isCancelled && !transfers[1].isCancelled && budget() == [1, 0])
        // The first may continue until its cancellation has arrived.
        #expect(transfers[0].respond(500)?.code == .cancelled)
        #expect(transfers[0].send([1])?.code == .cancelled)
        transfers[0].end(WebImageError(.cancelled, ""))
        #expect(transfers[1].send([1, 2]) == nil)
        transfers[1].end()
        #expect(sink.words == ["200", "2 bytes", "end 0"] && sink.violations == 0)
        #expect(sink.metrics?.wasHedged == true && sink.metrics?.total == 1, "it began a second later")
        #expect(budget() == [0, 0])
    }

    @Test func `When the first request is answered first, the second is cancelled`() {
        _ = hedging.start(request(), sink: sink)
        delays.advance(1)
        transfers[0].respond(404)
        #expect(transfers[1].isCancelled && !transfers[0].isCancelled)
        transfers[1].end(WebImageError(.timedOut, ""))
        transfers[0].end()
        #expect(sink.words == ["404", "end 0"] && sink.metrics?.wasHedged == true && sink.metrics?.total == 0)
    }

    @Test func `While one request is pending, the other's failure is not reported`() {
        for failing in 0...1 {
            let sink = SinkLog()
            let number = transfers.count
            _ = hedging.start(request(), sink: sink)
            delays.advance(1)
            transfers[number + failing].end(WebImageError(.networkConnectionLost, ""))
            #expect(sink.words.isEmpty)
            transfers[number + 1 - failing].respond()
            transfers[number + 1 - failing].end()
            #expect(sink.words == ["200", "end 0"] && budget() == [0, 0])
        }
    }

    @Test(arguments: [[0, 1], [1, 0]]) func `When both fail, the first one's failure is reported, once`(order: [Int]) {
        _ = hedging.start(request(), sink: sink)
        delays.advance(1)
        for number in order {
            transfers[number].end(WebImageError(number == 0 ? .timedOut : .cannotConnectToHost, ""))
        }
        #expect(sink.words == ["end 2100"] && sink.violations == 0 && sink.metrics?.wasHedged == true)
        for transfer in transfers { transfer.end() }
        #expect(sink.words.count == 1 && budget() == [0, 0])
    }

    @Test func `A failure after the head is the end`() {
        _ = hedging.start(request(), sink: sink)
        delays.advance(1)
        transfers[1].respond()
        transfers[1].end(WebImageError(.networkConnectionLost, ""))
        #expect(sink.words == ["200", "end 2103"])
    }

    @Test func `A head refused by the sink is refused`() {
        let sink = SinkLog(refusal: WebImageError(.invalidDownloadStatusCode, ""))
        _ = hedging.start(request(), sink: sink)
        delays.advance(1)
        let refusal = transfers[1].respond(404)
        #expect(refusal?.code == .invalidDownloadStatusCode)
        transfers[1].end(refusal)
        #expect(sink.words == ["404", "end 2001"])
    }

    @Test func `The second request has the remaining time`() {
        var limited = request(1)
        limited.totalTimeout = 3
        _ = hedging.start(limited, sink: sink)
        delays.advance(1)
        #expect(transfers[1].request.totalTimeout == 2)
        limited.totalTimeout = 1
        _ = hedging.start(limited, sink: SinkLog())
        delays.advance(1)
        #expect(transfers.count == 3, "none is left")
    }

    // MARK: Cancelling

    @Test func `Cancelling reaches the running requests, and the sink gets no more calls`() {
        let single = hedging.start(request(), sink: sink)
        single.cancel()
        #expect(transfers[0].isCancelled && delays.count == 0)
        let double = hedging.start(request(), sink: sink)
        delays.advance(1)
        double.cancel()
        double.cancel()
        #expect(transfers[1].isCancelled && transfers[2].isCancelled && budget() == [0, 0])
        for transfer in transfers {
            #expect(transfer.respond()?.code == .cancelled)
            transfer.end()
        }
        #expect(sink.words.isEmpty)
        delays.advance(10)
        #expect(transfers.count == 3)
    }

    @Test func `Cancelling after the head reaches the answered request, and after the end nothing`() {
        let transfer = hedging.start(request(), sink: sink)
        delays.advance(1)
        transfers[1].respond()
        transfer.cancel()
        #expect(transfers[0].isCancelled && transfers[1].isCancelled)
        let other = hedging.start(request(), sink: SinkLog())
        transfers[2].complete([1])
        other.cancel()
        #expect(!transfers[2].isCancelled && budget() == [0, 0])
    }

    // MARK: Limits

    @Test(arguments: [(1, 1), (9, 1), (19, 1), (20, 2), (35, 3)])
    func `At most one in ten requests is hedged at a time, and at least one`(running: Int, hedges: Int) {
        let sinks = (0..<running).map { _ in SinkLog() }
        for sink in sinks { _ = hedging.start(request(), sink: sink) }
        delays.advance(1)
        #expect(transfers.count == running + hedges && budget() == [running, hedges])
        for transfer in transfers { transfer.complete([1]) }
        #expect(sinks.allSatisfy { $0.words == ["200", "1 bytes", "end 0"] && $0.violations == 0 })
        #expect(sinks.filter { $0.metrics?.wasHedged == true }.count == hedges && budget() == [0, 0])
    }

    @Test func `A transport that responds at once needs no timer`() {
        let hedging = HedgingTransport(PromptTransport(), delays: delays.delays)
        _ = hedging.start(request(), sink: sink)
        #expect(sink.words == ["200", "end 0"] && delays.asked.isEmpty)
    }

    @Test func `Nothing of a transfer is left when it has ended`() {
        weak var leaked: SinkLog?
        weak var transfer: HedgedTransfer?
        do {
            let sink = SinkLog()
            leaked = sink
            transfer = hedging.start(request(), sink: sink) as? HedgedTransfer
            #expect(transfer != nil)
            delays.advance(1)
            transfers[1].complete([1])
        }
        inner.forgetTransfers()
        #expect(leaked == nil && transfer == nil)
    }

    @Test func `Responses, failures and cancellations on many threads give each sink a consistent sequence`() async {
        let (inner, delays, hedging) = (inner, delays, hedging)
        let sinks = (0..<2000).map { _ in SinkLog() }
        let started = Lock<[any HTTPTransfer]>([])
        let isOver = Lock(false)
        let request = request(0.5)
        await withTaskGroup(of: Void.self) { group in
            for part in 0..<2 {
                group.addTask {
                    await onThread {
                        var done = 0
                        while true {
                            let isLast = isOver.withLock { $0 }
                            let new = inner.transfers(from: done)
                            for transfer in new where transfer.number % 2 == part {
                                if Bool.random() {
                                    transfer.complete([1])
                                } else {
                                    transfer.end(WebImageError(.timedOut, ""))
                                }
                            }
                            done += new.count
                            if new.isEmpty, isLast, delays.count == 0 { return }
                        }
                    }
                }
            }
            group.addTask {
                await onThread {
                    for (number, sink) in sinks.enumerated() {
                        let transfer = hedging.start(request, sink: sink)
                        if number % 5 == 0 { transfer.cancel() }
                        started.withLock { $0.append(transfer) }
                        if number % 3 == 0 { delays.advance(0.5) }
                    }
                    delays.runAll()
                    isOver.withLock { $0 = true }
                }
            }
        }
        #expect(sinks.allSatisfy { $0.violations == 0 })
        for (number, sink) in sinks.enumerated() where number % 5 != 0 {
            #expect(sink.words.filter { $0.hasPrefix("end") }.count == 1, "\(sink.words)")
        }
        #expect(budget() == [0, 0])
    }
}

/// Responds before it reports that it has started.
private final class PromptTransport: HTTPTransport {
    final class Transfer: HTTPTransfer {
        func cancel() {}
    }

    func start(_ request: HTTPTransferRequest, sink: any HTTPTransferSink) -> any HTTPTransfer {
        let refusal = sink.didReceive(HTTPResponse(url: request.url, statusCode: 200))
        sink.didFinish(refusal, metrics: DownloadMetrics())
        return Transfer()
    }

    func invalidate() {}
}
