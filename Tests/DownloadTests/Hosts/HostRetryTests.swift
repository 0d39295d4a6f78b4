import FoundationEssentials
import HTTPTestSupport
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImage

/// `Retry-After`, retries, hooks and redirects, in virtual time.
@Suite(.tags(.threadSanitizer)) struct HostRetryTests {
    private let harness = RetryHarness(.never, hostBackOff: .exact)
    private var transfers: [FakeTransport.Transfer] { harness.transport.transfers }

    /// A download is answered with a status that asks for a wait.
    private func ask(_ status: Int, _ value: String) -> Recorder {
        let (recorder, number) = (Recorder(), harness.starts)
        harness.downloader.start(testURL("/asked\(number)"), recorder)
        harness.answer(number, status, headers: ["Retry-After": value])
        return recorder
    }

    // MARK: Retry-After

    @Test(arguments: [429, 503]) func `Retry-After of a host delays other downloads, too`(status: Int) async {
        let asked = ask(status, "10")
        #expect(asked.error?.statusCode == status && asked.error?.retryAfter == 10)
        let refused = await harness.refusal(testURL("/x"))
        #expect(refused?.code == .hostUnavailable && refused?.retryAfter == 10)
        #expect(refused?.message.contains("asked clients to wait") == true)
        harness.downloader.start(hostURL("/x", "other.test"), Recorder())
        #expect(harness.starts == 2)
        harness.delays.advance(10)
        harness.downloader.start(testURL("/x"), Recorder())
        harness.downloader.start(testURL("/y"), Recorder())
        #expect(harness.starts == 4, "no probe is needed")
    }

    @Test func `Retry-After may be a date`() async {
        // The clock of the tests shows Tue, 14 Nov 2023 22:13:20.
        #expect(ask(503, "Tue, 14 Nov 2023 22:13:50 GMT").error?.retryAfter == 30)
        #expect(await harness.refusal(testURL("/x"))?.retryAfter == 30)
    }

    @Test func `Retry-After delays a host by at most ten minutes`() async {
        #expect(ask(429, "86400").error?.retryAfter == 86_400, "the error has the server's response")
        #expect(await harness.refusal(testURL("/x"))?.retryAfter == 600)
    }

    @Test func `A download that would start waits up to two seconds, and others use the slot`() {
        harness.downloader.config.maxConcurrentDownloads = 1
        _ = ask(429, "2")
        let (waiting, other) = (Recorder(), Recorder())
        harness.downloader.start(testURL("/waiting"), waiting)
        harness.downloader.start(hostURL("/x", "other.test"), other)
        #expect(harness.starts == 2 && transfers[1].request.url.host() == "other.test")
        transfers[1].complete([1])
        #expect(other.data == Data([1]) && harness.delays.asked == [2] && waiting.results.isEmpty)
        harness.delays.advance(2)
        #expect(harness.starts == 3)
        transfers[2].complete([2])
        #expect(waiting.data == Data([2]))
        let metrics = try? waiting.results[0].get().metrics
        #expect(metrics?.attemptCount == 1 && metrics?.waitedForRetry == 0, "no attempt has failed")
    }

    @Test func `A waiting download can be cancelled, and its timer is released`() {
        _ = ask(429, "1")
        let recorder = Recorder()
        let token = harness.downloader.start(testURL("/waiting"), recorder)
        #expect(harness.delays.count == 1)
        token.cancel()
        #expect(
            recorder.code == .cancelled && harness.delays.count == 0 && harness.downloader.currentDownloadCount == 0
        )
        harness.delays.advance(1)
        #expect(harness.starts == 1)
    }

    @Test func `The field has no effect with other statuses`() {
        #expect(ask(500, "10").error?.retryAfter == nil)
        #expect(ask(413, "10").error?.statusCode == 413)
        #expect(harness.starts == 2)
    }

    @Test func `Retry-After of an accepted response counts, too`() async {
        harness.downloader.config.acceptableStatusCodes = nil
        harness.downloader.start(testURL("/a"), Recorder())
        transfers[0].respond(503, headers: ["Retry-After": "9", "Content-Length": "2"])
        transfers[0].send([1, 2])
        transfers[0].end()
        #expect(await harness.refusal(testURL("/x"))?.retryAfter == 9)
    }

    // MARK: Retries

    @Test func `The delayed download continues at its time, and the others with it`() {
        harness.downloader.config.retryPolicy = .exact
        let (first, second) = (ask(503, "4"), Recorder())
        harness.downloader.start(testURL("/second"), second)
        #expect(harness.starts == 1 && harness.delays.asked == [4, 4])
        harness.delays.advance(4)
        #expect(harness.starts == 3)
        transfers[1].complete([1])
        transfers[2].complete([2])
        #expect(first.data != nil && second.data != nil)
    }

    @Test func `A download with retries waits until its host may be asked`() async {
        harness.failures(3)
        harness.downloader.config.retryPolicy = .exact
        let recorder = Recorder()
        let log = Lock<[String]>([])
        let observation = harness.downloader.observe(on: .inline) { event in
            if case .willRetry(let info, let error, let seconds) = event {
                log.withLock { $0.append("\(info.attempt) \(error.code.rawValue) \(seconds)") }
            }
        }
        harness.delays.advance(0.5)
        let token = harness.downloader.start(testURL("/patient"), recorder)
        #expect(harness.starts == 3 && harness.delays.asked == [0.5] && log.withLock { $0 } == ["1 2106 0.5"])
        harness.delays.advance(0.5)
        #expect(harness.starts == 4)
        transfers[3].complete([1])
        #expect(recorder.data == Data([1]) && token.metrics?.attemptCount == 2 && token.metrics?.waitedForRetry == 0.5)
        observation.cancel()
    }

    @Test func `Refused retries come to an end`() async {
        harness.failures(3)
        harness.downloader.config.retryPolicy = .exact
        var hasty = DownloadRetryPolicy.exact
        hasty.maximumRetryAfter = 0.5
        let (given, patient) = (Recorder(), Recorder())
        harness.downloader.start(testURL("/a"), given, context: .with { $0.retryPolicy = hasty })
        await given.end()
        #expect(given.code == .hostUnavailable, "a second is too long for it")
        harness.downloader.start(testURL("/b"), patient)
        for attempt in 3..<6 {
            harness.delays.runAll()
            if attempt < harness.starts { harness.fail(attempt, .cannotConnectToHost) }
        }
        await patient.end()
        #expect(patient.results.count == 1 && patient.code == .cannotConnectToHost)
        #expect(harness.starts == 6 && harness.delays.count == 0)
    }

    // MARK: Hooks and redirects

    @Test func `With a modifier the host of the modified request counts`() async {
        harness.failures(3)
        let mirror = DownloadRequestModifier { request in
            var request = request
            request.url = hostURL("/mirror", "mirror.test")
            return request
        }
        let context = WebImageContext.with { $0.downloadRequestModifier = mirror }
        for number in 3..<6 {
            harness.downloader.start(testURL("/m"), Recorder(), context: context)
            #expect(harness.starts == number + 1, "the first host's failures do not matter")
            harness.fail(number, .cannotConnectToHost)
        }
        let refused = Recorder()
        harness.downloader.start(testURL("/m"), refused, context: context)
        await refused.end()
        #expect(refused.code == .hostUnavailable && refused.error?.url == testURL("/m") && harness.starts == 6)
        harness.delays.advance(1)
        harness.downloader.start(testURL("/m"), Recorder(), context: context)
        harness.downloader.start(testURL("/n"), refused, context: context)
        #expect(harness.starts == 7, "one finds out")
        transfers[6].complete([1])
        harness.downloader.start(testURL("/o"), Recorder(), context: context)
        #expect(harness.starts == 8)
    }

    @Test func `A host that only redirects counts as working, and failures belong to the redirect's host`() async {
        for round in 0..<3 {
            harness.downloader.start(testURL("/\(round)"), Recorder())
            let first = transfers[round * 2]
            first.end(first.respond(302, headers: ["Location": "http://gone.test/"]))
            harness.fail(round * 2 + 1, .cannotFindHost)
        }
        #expect(await harness.refusal(hostURL("/x", "gone.test"))?.code == .hostUnavailable)
        harness.downloader.start(testURL("/x"), Recorder())
        #expect(harness.starts == 7)
    }

    @Test func `Random failures, waits and cancellations on many threads end every caller once`() async {
        let harness = RetryHarness(.exact, hostBackOff: .exact)
        let (downloader, transport, delays) = (harness.downloader, harness.transport, harness.delays)
        let recorders = (0..<3000).map { _ in Recorder() }
        let isOver = Lock(false)
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                await onThread {
                    var finished = 0
                    while true {
                        let isLast = isOver.withLock { $0 }
                        let started = transport.transfers(from: finished)
                        for transfer in started.shuffled() {
                            switch Int.random(in: 0..<8) {
                            case 0: transfer.complete([1])
                            case 1:
                                transfer.end(
                                    transfer.respond(503, headers: ["Retry-After": "\(Int.random(in: 0...4))"])
                                )
                            default: transfer.end(WebImageError(.cannotConnectToHost, ""))
                            }
                        }
                        finished += started.count
                        if Bool.random() { delays.runAll() } else { delays.advance(0.3) }
                        if started.isEmpty {
                            if isLast, downloader.currentDownloadCount == 0 { return }
                            if isLast { delays.runAll() }
                        }
                    }
                }
            }
            await withTaskGroup(of: Void.self) { callers in
                for caller in 0..<3 {
                    callers.addTask {
                        await onThread {
                            for number in stride(from: caller, to: recorders.count, by: 3) {
                                let url = hostURL("/\(number % 20)", "h\(number % 3).test")
                                let token = downloader.start(url, recorders[number])
                                if Int.random(in: 0..<4) == 0 { token.cancel() }
                            }
                        }
                    }
                }
            }
            isOver.withLock { $0 = true }
        }
        for recorder in recorders { await recorder.end() }
        #expect(recorders.allSatisfy { $0.results.count == 1 && $0.progressAfterEnd == 0 })
        let codes: Set<WebImageError.Code?> = [
            .cancelled, .cannotConnectToHost, .hostUnavailable, .invalidDownloadStatusCode, nil,
        ]
        #expect(recorders.allSatisfy { codes.contains($0.code) })
        let statistics = downloader.statistics
        #expect(statistics.running + statistics.waiting + statistics.waitingForRetry + statistics.callers == 0)
        #expect(statistics.started == statistics.succeeded + statistics.failed + statistics.cancelled)
        #expect(delays.count == 0)
    }
}
