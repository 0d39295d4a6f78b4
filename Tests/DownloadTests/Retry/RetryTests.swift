import FoundationEssentials
import HTTPTestSupport
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImage

/// Retries in virtual time.
@Suite struct RetryTests {
    @Test func `A transient failure is retried until it succeeds`() {
        let harness = RetryHarness()
        let recorder = Recorder()
        let token = harness.downloader.start(testURL("/a"), recorder)
        harness.fail(0)
        #expect(harness.starts == 1 && recorder.results.isEmpty && harness.delays.asked == [1])
        harness.delays.advance(0.9)
        #expect(harness.starts == 1)
        harness.delays.advance(0.1)
        #expect(harness.starts == 2)
        harness.fail(1, .timedOut)
        harness.delays.advance(2)
        harness.transport.transfers[2].complete([1, 2, 3])
        #expect(recorder.results.count == 1 && recorder.data == Data([1, 2, 3]))
        #expect(token.metrics?.attemptCount == 3 && token.metrics?.waitedForRetry == 3)
        #expect((try? recorder.results[0].get())?.metrics == token.metrics)
        #expect(harness.downloader.currentDownloadCount == 0 && harness.delays.count == 0)
    }

    @Test func `The callers get the last error`() {
        let harness = RetryHarness()
        let recorders = (0..<3).map { _ in Recorder() }
        for recorder in recorders { harness.downloader.start(testURL("/a"), recorder) }
        for attempt in 0..<4 {
            harness.fail(attempt, attempt == 3 ? .cannotFindHost : .timedOut)
            harness.delays.runAll()
        }
        #expect(harness.starts == 4)
        for recorder in recorders {
            #expect(recorder.results.count == 1 && recorder.code == .cannotFindHost)
            #expect(recorder.error?.message == "attempt 3" && recorder.error?.url == testURL("/a"))
        }
    }

    @Test func `By default nothing is retried, and permanent failures never are`() {
        let plain = RetryHarness(WebImageDownloaderConfig().retryPolicy)
        let recorder = Recorder()
        plain.downloader.start(testURL("/a"), recorder)
        plain.fail(0)
        #expect(recorder.code == .networkConnectionLost && plain.delays.asked.isEmpty)

        let harness = RetryHarness()
        let other = Recorder()
        harness.downloader.start(testURL("/a"), other)
        let refusal = harness.transport.transfers[0].respond(404)
        harness.transport.transfers[0].end(refusal)
        #expect(other.error?.statusCode == 404 && harness.delays.asked.isEmpty)
    }

    @Test func `The context's policy replaces the configuration's`() {
        let harness = RetryHarness(.never)
        var context = WebImageContext()
        context.retryPolicy = .exact
        let (patient, hasty) = (Recorder(), Recorder())
        harness.downloader.start(testURL("/a"), patient, context: context)
        harness.downloader.start(testURL("/a"), hasty)
        #expect(harness.starts == 2, "callers with other policies do not share")
        harness.fail(0)
        harness.fail(1)
        #expect(patient.results.isEmpty && hasty.code == .networkConnectionLost)
        harness.delays.runAll()
        harness.transport.transfers[2].complete([1])
        #expect(patient.data == Data([1]))
    }

    @Test func `Callers join and leave while a download waits for a retry`() {
        let harness = RetryHarness()
        let (first, second, third) = (Recorder(), Recorder(), Recorder())
        let token = harness.downloader.start(testURL("/a"), first)
        harness.fail(0)
        harness.downloader.start(testURL("/a"), second)
        #expect(harness.starts == 1 && harness.downloader.currentDownloadCount == 1)
        token.cancel()
        #expect(first.code == .cancelled && second.results.isEmpty && harness.delays.count == 1)
        harness.delays.runAll()
        harness.downloader.start(testURL("/a"), third)
        #expect(harness.starts == 2)
        harness.transport.transfers[1].complete([7])
        #expect(second.data == Data([7]) && third.data == Data([7]) && first.results.count == 1)
    }

    @Test func `When the last caller cancels during the wait, nothing is sent and the timer is released`() {
        let harness = RetryHarness()
        let recorder = Recorder()
        let token = harness.downloader.start(testURL("/a"), recorder)
        harness.fail(0)
        token.cancel()
        #expect(recorder.code == .cancelled && recorder.results.count == 1)
        #expect(harness.delays.count == 0 && harness.downloader.currentDownloadCount == 0)
        harness.delays.runAll()
        #expect(harness.starts == 1)
        let other = Recorder()
        harness.downloader.start(testURL("/a"), other)
        harness.transport.transfers[1].complete([1])
        #expect(other.data == Data([1]))
    }

    @Test func `A download that waits for a retry gives its slot to others`() {
        let harness = RetryHarness(maxConcurrentDownloads: 1)
        let (first, second) = (Recorder(), Recorder())
        harness.downloader.start(testURL("/a"), first)
        harness.downloader.start(testURL("/b"), second)
        #expect(harness.starts == 1)
        harness.fail(0)
        #expect(harness.starts == 2)
        // The delay is over, but the slot is taken.
        harness.delays.runAll()
        #expect(harness.starts == 2)
        harness.transport.transfers[1].complete([2])
        #expect(second.data == Data([2]) && harness.starts == 3)
        harness.transport.transfers[2].complete([1])
        #expect(first.data == Data([1]))
    }

    @Test func `A retry has its callers' current priority`() {
        let harness = RetryHarness(maxConcurrentDownloads: 1)
        let token = harness.downloader.start(testURL("/a"), Recorder(), options: .lowPriority)
        harness.fail(0)
        harness.downloader.start(testURL("/b"), Recorder())
        harness.downloader.start(testURL("/c"), Recorder())
        token.setPriority(.high)
        harness.delays.runAll()
        harness.transport.transfers[1].complete([1])
        #expect(harness.transport.transfers.map { $0.request.url.path() } == ["/a", "/b", "/a"])
    }

    @Test func `While suspended no retry starts`() {
        let harness = RetryHarness()
        harness.downloader.start(testURL("/a"), Recorder())
        harness.downloader.isSuspended = true
        harness.fail(0)
        harness.delays.runAll()
        #expect(harness.starts == 1)
        harness.downloader.isSuspended = false
        #expect(harness.starts == 2)
    }

    @Test func `Cancelling all ends downloads that wait for a retry`() {
        let harness = RetryHarness()
        let recorder = Recorder()
        harness.downloader.start(testURL("/a"), recorder)
        harness.fail(0)
        harness.downloader.cancelAllDownloads()
        #expect(recorder.code == .cancelled && harness.delays.count == 0)
        harness.delays.runAll()
        #expect(harness.starts == 1 && recorder.results.count == 1)
    }

    @Test func `An invalidated downloader ends or finishes downloads that wait for a retry`() {
        let cancelled = RetryHarness()
        let first = Recorder()
        cancelled.downloader.start(testURL("/a"), first)
        cancelled.fail(0)
        cancelled.downloader.invalidate(cancelling: true)
        #expect(first.code == .cancelled && cancelled.transport.isInvalidated && cancelled.delays.count == 0)

        let patient = RetryHarness()
        let second = Recorder()
        patient.downloader.start(testURL("/a"), second)
        patient.fail(0)
        patient.downloader.invalidate(cancelling: false)
        #expect(!patient.transport.isInvalidated && second.results.isEmpty)
        patient.delays.runAll()
        patient.transport.transfers[1].complete([5])
        #expect(second.data == Data([5]) && patient.transport.isInvalidated)
    }

    @Test func `Progress never decreases`() {
        let harness = RetryHarness()
        let (first, late) = (Recorder(), Recorder())
        harness.downloader.start(testURL("/a"), first)
        harness.transport.transfers[0].respond(headers: ["Content-Length": "10"])
        harness.transport.transfers[0].send(pattern(6))
        harness.fail(0)
        harness.delays.runAll()
        harness.transport.transfers[1].respond(headers: ["Content-Length": "10"])
        harness.transport.transfers[1].send(pattern(4))
        harness.downloader.start(testURL("/a"), late)
        harness.transport.transfers[1].send(pattern(4))
        harness.transport.transfers[1].send(pattern(2))
        harness.transport.transfers[1].end()
        #expect(first.progress.map(\.receivedByteCount) == [0, 6, 8, 10])
        #expect(late.progress.map(\.receivedByteCount) == [4, 8, 10])
        #expect(first.data?.count == 10)
    }

    @Test func `A late end of an earlier attempt changes nothing`() {
        let harness = RetryHarness()
        let recorder = Recorder()
        harness.downloader.start(testURL("/a"), recorder)
        harness.fail(0)
        harness.fail(0, .badRedirect)
        #expect(recorder.results.isEmpty && harness.delays.count == 1)
        harness.delays.runAll()
        harness.fail(0, .badRedirect)
        #expect(recorder.results.isEmpty && harness.starts == 2)
        harness.transport.transfers[1].complete([1])
        #expect(recorder.data == Data([1]) && recorder.results.count == 1)
    }

    @Test func `A transient status is retried when the server says`() {
        let harness = RetryHarness()
        let recorder = Recorder()
        harness.downloader.start(testURL("/a"), recorder)
        let refusal = harness.transport.transfers[0].respond(503, headers: ["Retry-After": "9"])
        harness.transport.transfers[0].end(refusal)
        #expect(harness.delays.asked == [9])
        harness.delays.advance(9)
        // Nothing is left of the first response: this delay is ours.
        harness.fail(1)
        #expect(harness.delays.asked == [9, 2])
        harness.delays.advance(2)
        let again = harness.transport.transfers[2].respond(429, headers: ["Retry-After": "600"])
        harness.transport.transfers[2].end(again)
        #expect(recorder.error?.statusCode == 429 && recorder.results.count == 1)
    }

    @Test func `A truncated body is fetched again`() {
        let harness = RetryHarness()
        let recorder = Recorder()
        harness.downloader.start(testURL("/a"), recorder)
        harness.transport.transfers[0].respond(headers: ["Content-Length": "10"])
        harness.transport.transfers[0].send([1])
        harness.transport.transfers[0].end()
        harness.delays.runAll()
        harness.transport.transfers[1].complete([1, 2])
        #expect(recorder.data == Data([1, 2]))
    }

    @Test func `Requests with another method are not retried`() {
        let harness = RetryHarness()
        let recorder = Recorder()
        let modifier = DownloadRequestModifier { request in
            var request = request
            request.method = "POST"
            return request
        }
        harness.downloader.start(testURL("/a"), recorder, context: .with { $0.downloadRequestModifier = modifier })
        harness.fail(0)
        #expect(recorder.code == .networkConnectionLost && harness.delays.asked.isEmpty)
    }
}
