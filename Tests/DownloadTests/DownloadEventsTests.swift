import FoundationEssentials
import HTTPTestSupport
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageHTTP

/// The events of a downloader, and its statistics.
@Suite(.tags(.threadSanitizer)) struct DownloadEventsTests {
    /// Records events as short words.
    private final class EventLog: Sendable {
        private let events = Lock<[DownloadEvent]>([])
        let counter = EventCounter()

        @Sendable func note(_ event: DownloadEvent) {
            events.withLock { $0.append(event) }
            counter.signal()
        }

        var all: [DownloadEvent] { events.withLock { $0 } }

        var words: [String] {
            all.map { event in
                let place = "\(event.download.url.path()) \(event.download.attempt)"
                switch event {
                case .started: return "started \(place)"
                case .receivedResponse(_, let response): return "response \(place) \(response.statusCode)"
                case .willRetry(_, let error, let seconds): return "retry \(place) \(error.code.rawValue) \(seconds)"
                case .stopped(_, let error, _): return "stopped \(place) \(error?.code.rawValue ?? 0)"
                case .finished(_, let metrics): return "finished \(place) \(metrics.attemptCount)"
                }
            }
        }
    }

    private let harness = RetryHarness()
    private var downloader: WebImageDownloader { harness.downloader }
    private var transport: FakeTransport { harness.transport }

    @Test func `Start, response, stop and finish arrive in order, and finish only without an error`() {
        let log = EventLog()
        let observation = downloader.observe(on: .inline, log.note)
        downloader.start(testURL("/a"), Recorder())
        transport.transfers[0].complete([1])
        #expect(log.words == ["started /a 1", "response /a 1 200", "stopped /a 1 0", "finished /a 1 1"])
        downloader.start(testURL("/b"), Recorder())
        transport.transfers[1].end(transport.transfers[1].respond(404))
        #expect(log.words.suffix(3) == ["started /b 1", "response /b 1 404", "stopped /b 1 2001"])
        let ids = log.all.map(\.download.id)
        #expect(Set(ids.prefix(4)).count == 1 && Set(ids).count == 2)
        observation.cancel()
    }

    @Test func `Retries are part of one download`() {
        let log = EventLog()
        let observation = downloader.observe(on: .inline, log.note)
        let recorder = Recorder()
        downloader.start(testURL("/a"), recorder)
        transport.transfers[0].end(transport.transfers[0].respond(503))
        harness.delays.runAll()
        harness.fail(1)
        harness.delays.runAll()
        transport.transfers[2].complete([1])
        #expect(
            log.words == [
                "started /a 1", "response /a 1 503", "retry /a 1 2001 1.0", "retry /a 2 2103 2.0",
                "response /a 3 200", "stopped /a 3 0", "finished /a 3 3",
            ]
        )
        #expect(Set(log.all.map(\.download.id)).count == 1)
        observation.cancel()
    }

    @Test func `Every start has one stop`() {
        let log = EventLog()
        let observation = downloader.observe(on: .inline, log.note)
        downloader.config.maxConcurrentDownloads = 5
        let tokens = (0..<8).map { downloader.start(testURL("/\($0)"), Recorder()) }
        // One is cancelled while it runs, one while it waits for a retry, one never starts.
        tokens[0].cancel()
        harness.fail(1)
        tokens[1].cancel()
        tokens[7].cancel()
        harness.fail(2, .badRedirect)
        transport.transfers[3].complete([1])
        transport.transfers[3].end()
        harness.fail(4)
        downloader.cancelAllDownloads()
        harness.delays.runAll()
        var open: [UInt64: Int] = [:]
        for event in log.all {
            switch event {
            case .started(let info): open[info.id, default: 0] += 1
            case .stopped(let info, _, _): open[info.id, default: 0] -= 1
            default: #expect(event.download.url.path() != "/7")
            }
        }
        #expect(open.values.allSatisfy { $0 == 0 })
        #expect(open.count == 7)
        #expect(!log.words.contains { $0.contains("/7") })
        #expect(log.words.contains("stopped /0 1 2002") && log.words.contains("stopped /1 1 2002"))
        observation.cancel()
    }

    @Test func `An event has the number of waiting callers`() {
        let log = EventLog()
        let observation = downloader.observe(on: .inline, log.note)
        let tokens = (0..<3).map { _ in downloader.start(testURL("/a"), Recorder()) }
        transport.transfers[0].respond()
        tokens[0].cancel()
        transport.transfers[0].send([1])
        transport.transfers[0].end()
        #expect(log.all.map(\.download.callerCount) == [1, 3, 2, 2])
        observation.cancel()
    }

    @Test func `An observation ends when it is cancelled or released`() {
        let (first, second) = (EventLog(), EventLog())
        let observation = downloader.observe(on: .inline, first.note)
        do {
            let short = downloader.observe(on: .inline, second.note)
            downloader.start(testURL("/a"), Recorder())
            withExtendedLifetime(short) {}
        }
        transport.transfers[0].complete([1])
        observation.cancel()
        observation.cancel()
        downloader.start(testURL("/b"), Recorder())
        #expect(first.words.count == 4 && second.words == ["started /a 1"])
        #expect(downloader.core.state.withLock { $0.observers.isEmpty })
    }

    @Test func `An observer may call back into the downloader, and still gets everything in order`() {
        let log = EventLog()
        let downloader = downloader
        let mine = Lock<DownloadObservation?>(nil)
        let observation = downloader.observe(on: .inline) { event in
            log.note(event)
            guard case .started(let info) = event, info.url.path() == "/a" else { return }
            downloader.start(testURL("/b"), Recorder())
            #expect(downloader.statistics.running == 2)
        }
        mine.withLock { $0 = observation }
        downloader.start(testURL("/a"), Recorder())
        #expect(log.words == ["started /a 1", "started /b 1"])
        mine.withLock { $0 }?.cancel()
    }

    @Test func `An observer that ends its own observation gets nothing more`() {
        let log = EventLog()
        let mine = Lock<DownloadObservation?>(nil)
        let observation = downloader.observe(on: .inline) { event in
            log.note(event)
            mine.withLock { $0 }?.cancel()
        }
        mine.withLock { $0 = observation }
        downloader.start(testURL("/a"), Recorder())
        transport.transfers[0].complete([1])
        #expect(log.words == ["started /a 1"])
    }

    @Test func `Observers on the main thread get events of several threads in order`() async {
        let log = EventLog()
        let observation = downloader.observe(log.note)
        downloader.config.maxConcurrentDownloads = 1000
        for number in 0..<50 { downloader.start(testURL("/\(number)"), Recorder()) }
        let transport = transport
        await withTaskGroup(of: Void.self) { group in
            for part in 0..<4 {
                group.addTask {
                    await onThread {
                        for number in stride(from: part, to: 50, by: 4) { transport.transfers[number].complete([1]) }
                    }
                }
            }
        }
        await log.counter.wait(for: 200)
        for number in 0..<50 {
            let words = log.words.filter { $0.contains("/\(number) ") }.map { $0.prefix { $0 != " " } }
            #expect(words == ["started", "response", "stopped", "finished"])
        }
        observation.cancel()
    }

    @Test func `The downloader counts its work`() {
        #expect(downloader.statistics == DownloadStatistics())
        downloader.config.maxConcurrentDownloads = 3
        let tokens = (0..<6).map { downloader.start(testURL("/\($0)"), Recorder()) }
        downloader.start(testURL("/0"), Recorder())
        harness.fail(0)
        var statistics = downloader.statistics
        #expect(statistics.running == 3 && statistics.waiting == 2 && statistics.waitingForRetry == 1)
        #expect(statistics.callers == 7 && statistics.started == 4 && statistics.retries == 1)
        var metrics = DownloadMetrics()
        metrics.receivedByteCount = 1000
        transport.transfers[1].respond()
        transport.transfers[1].send([1, 2])
        transport.transfers[1].sink.didFinish(nil, metrics: metrics)
        transport.transfers[2].respond()
        transport.transfers[2].send([1, 2, 3])
        tokens[2].cancel()
        harness.fail(3, .badRedirect)
        statistics = downloader.statistics
        #expect(statistics.succeeded == 1 && statistics.cancelled == 1 && statistics.failed == 1)
        #expect(statistics.receivedByteCount == 1003)
        downloader.cancelAllDownloads()
        statistics = downloader.statistics
        #expect(statistics.running == 0 && statistics.waiting == 0 && statistics.waitingForRetry == 0)
        #expect(statistics.callers == 0)
        #expect(statistics.started == statistics.succeeded + statistics.failed + statistics.cancelled)
    }

    @Test func `Absurd byte counts from a transport do not trap`() {
        for (number, count) in ([.max, .max, -5] as [Int64]).enumerated() {
            downloader.start(testURL("/a"), Recorder())
            var metrics = DownloadMetrics()
            metrics.receivedByteCount = count
            transport.transfers[number].sink.didFinish(WebImageError(.badRedirect, ""), metrics: metrics)
        }
        #expect(downloader.statistics.receivedByteCount == .max && downloader.statistics.failed == 3)
    }

    @Test func `A download whose bytes are still being processed gives its slot to the next`() {
        downloader.config.maxConcurrentDownloads = 1
        let (first, second) = (Recorder(), Recorder())
        downloader.start(testURL("/a"), first)
        downloader.start(testURL("/b"), second)
        downloader.core.state.withLock { $0.records[1] }.map { downloader.core.networkDidEnd($0) }
        #expect(transport.transfers.count == 2 && first.results.isEmpty)
        #expect(downloader.statistics.running == 2)
        let joined = Recorder()
        downloader.start(testURL("/a"), joined)
        #expect(transport.transfers.count == 2)
        transport.transfers[0].complete([1])
        #expect(joined.data == Data([1]))
        transport.transfers[1].complete([2])
        #expect(first.data == Data([1]) && second.data == Data([2]))
    }
}
