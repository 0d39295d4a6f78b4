import FoundationEssentials
import Glibc
import HTTPTestSupport
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImage

/// Threads that start, cancel, prioritize and finish at random: every caller must complete exactly once.
@Suite(.tags(.threadSanitizer)) struct DownloadStressTests {
    @Test func `Random joins, cancellations and ends on many threads complete every caller once`() async {
        let transport = FakeTransport()
        let downloader = WebImageDownloader(config: .init(), transport: transport)
        let recorders = (0..<4000).map { _ in Recorder() }
        let isOver = Lock(false)
        await withTaskGroup(of: Void.self) { group in
            // The network: finishes started transfers in any order.
            group.addTask {
                await onThread {
                    var finished = 0
                    while true {
                        let isLast = isOver.withLock { $0 }
                        let started = transport.transfers(from: finished)
                        for transfer in started.shuffled() { transfer.complete([1, 2, 3]) }
                        finished += started.count
                        if started.isEmpty {
                            if isLast { return }
                            sched_yield()
                        }
                    }
                }
            }
            await withTaskGroup(of: Void.self) { callers in
                for caller in 0..<4 {
                    callers.addTask {
                        await onThread {
                            for number in stride(from: caller, to: recorders.count, by: 4) {
                                let url = testURL("/\(Int.random(in: 0..<10))")
                                let token = downloader.start(url, recorders[number])
                                if Int.random(in: 0..<4) == 0 { token.setPriority(.high) }
                                if Bool.random() { token.cancel() }
                            }
                        }
                    }
                }
            }
            isOver.withLock { $0 = true }
        }
        #expect(recorders.allSatisfy { $0.results.count == 1 })
        #expect(recorders.allSatisfy { $0.progressAfterEnd == 0 })
        #expect(recorders.allSatisfy { $0.code == .cancelled || $0.data?.count == 3 })
        #expect(downloader.currentDownloadCount == 0)
    }

    @Test func `Random failures, retries, joins and cancellations on many threads complete every caller once`() async {
        let harness = RetryHarness()
        let (downloader, transport, delays) = (harness.downloader, harness.transport, harness.delays)
        let recorders = (0..<4000).map { _ in Recorder() }
        let events = Lock<[UInt64: (starts: Int, stops: Int)]>([:])
        let observation = downloader.observe(on: .inline) { event in
            events.withLock { events in
                switch event {
                case .started(let info): events[info.id, default: (0, 0)].starts += 1
                case .stopped(let info, _, _): events[info.id, default: (0, 0)].stops += 1
                default: break
                }
            }
        }
        let isOver = Lock(false)
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                await onThread {
                    var finished = 0
                    while true {
                        let isLast = isOver.withLock { $0 }
                        let started = transport.transfers(from: finished)
                        for transfer in started.shuffled() {
                            if Bool.random() {
                                transfer.complete([1, 2, 3])
                            } else {
                                transfer.end(WebImageError(.networkConnectionLost, ""))
                            }
                        }
                        finished += started.count
                        delays.runAll()
                        if started.isEmpty {
                            if isLast, downloader.currentDownloadCount == 0 { return }
                            sched_yield()
                        }
                    }
                }
            }
            await withTaskGroup(of: Void.self) { callers in
                for caller in 0..<4 {
                    callers.addTask {
                        await onThread {
                            for number in stride(from: caller, to: recorders.count, by: 4) {
                                let url = testURL("/\(Int.random(in: 0..<10))")
                                let token = downloader.start(url, recorders[number])
                                if Int.random(in: 0..<4) == 0 { token.setPriority(.high) }
                                if Bool.random() { token.cancel() }
                            }
                        }
                    }
                }
            }
            isOver.withLock { $0 = true }
        }
        #expect(recorders.allSatisfy { $0.results.count == 1 && $0.progressAfterEnd == 0 })
        let codes: [WebImageError.Code?] = [.cancelled, .networkConnectionLost, nil]
        #expect(recorders.allSatisfy { codes.contains($0.code) })
        let statistics = downloader.statistics
        #expect(statistics.running + statistics.waiting + statistics.waitingForRetry + statistics.callers == 0)
        #expect(statistics.started == statistics.succeeded + statistics.failed + statistics.cancelled)
        #expect(statistics.retries > 0 && delays.count == 0)
        #expect(events.withLock { $0.count } == statistics.started)
        #expect(events.withLock { $0.values.allSatisfy { $0 == (1, 1) } })
        observation.cancel()
    }

    @Test func `Ten thousand loads of a hundred URLs, half of them cancelled, complete once over a real server`()
        async throws
    {
        let gate = Gate()
        let server = try LoopbackServer { .delayed(gate, then: .response(body: Array($0.path.utf8))) }
        let downloader = WebImageDownloader()
        // The first ones wait for a response until the last one has begun.
        downloader.config.downloadTimeout = 600
        let recorders = (0..<TestEffort.rounds(10_000)).map { _ in Recorder() }
        let doomed = recorders.indices.map { _ in Bool.random() }
        var tokens: [WebImageDownloadToken] = []
        for (number, recorder) in recorders.enumerated() {
            tokens.append(downloader.start(server.url("/\(number % 100)"), recorder))
        }
        for number in recorders.indices.shuffled() where doomed[number] { tokens[number].cancel() }
        gate.open()
        for recorder in recorders { await recorder.end() }
        #expect(recorders.allSatisfy { $0.results.count == 1 && $0.progressAfterEnd == 0 })
        for (number, recorder) in recorders.enumerated() {
            if !doomed[number] { #expect(recorder.data == Data("/\(number % 100)".utf8)) }
        }
        #expect(downloader.currentDownloadCount == 0)
        #expect(server.requestCount() <= 100)
    }

    @Test func `Downloads that end while they are cancelled complete once`() async throws {
        let server = try LoopbackServer { _ in .response(body: [1]) }
        let downloader = WebImageDownloader()
        for _ in 0..<300 {
            let recorder = Recorder()
            let token = downloader.start(server.url("/a"), recorder)
            await onThread { token.cancel() }
            await recorder.end()
            #expect(recorder.results.count == 1)
        }
        #expect(downloader.currentDownloadCount == 0)
    }

    @Test func `A downloader released during downloads leaves nothing behind`() async throws {
        let server = try LoopbackServer { _ in .silence }
        let recorders = (0..<20).map { _ in Recorder() }
        do {
            let downloader = WebImageDownloader()
            for (number, recorder) in recorders.enumerated() { downloader.start(server.url("/\(number)"), recorder) }
            #expect(await server.wait { requests, _ in requests == 6 })
            #expect(downloader.currentDownloadCount == 20)
        }
        #expect(recorders.allSatisfy { $0.results.count == 1 && $0.code == .cancelled })
        #expect(await server.wait { _, open in open == 0 })
    }
}
