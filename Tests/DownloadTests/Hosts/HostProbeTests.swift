import FoundationEssentials
import HTTPTestSupport
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageHTTP
@testable import WebImageLoading

/// Downloads with request modifiers that probe a host: cancelling one does not block the others.
@Suite struct HostProbeTests {
    private let harness: RetryHarness
    private var core: DownloaderCore { harness.downloader.core }

    init() {
        var policy = HostBackOffPolicy.exact
        policy.failureThreshold = 1
        harness = RetryHarness(.never, hostBackOff: policy)
    }

    /// A context whose modifier waits at the gate.
    private func context(_ gate: Gate) -> WebImageContext {
        .with {
            $0.downloadRequestModifier = DownloadRequestModifier(asynchronously: { request in
                await onThread { gate.wait() }
                return request
            })
        }
    }

    /// The transfer of the only download.
    private func onlyTransfer() -> DownloadTransfer? { core.state.withLock { $0.records.values.first?.transfer } }

    @Test func `A request whose download was cancelled is not the probe`() throws {
        harness.failures(1)
        harness.delays.advance(1)
        let gate = Gate()
        defer { gate.open() }
        let token = harness.downloader.start(testURL("/slow"), Recorder(), context: context(gate))
        let record = try #require(onlyTransfer()?.record)
        token.cancel()
        // The modifier is done just now, and checks whether the host may be asked.
        #expect(core.refusal(of: testURL("/slow"), by: record) == nil)
        let next = Recorder()
        harness.downloader.start(testURL("/next"), next)
        #expect(harness.starts == 2, "it finds out itself")
        harness.transport.transfers[1].complete([1])
        #expect(next.data == Data([1]))
    }

    @Test func `A request with a pending modifier is the probe until it is cancelled`() throws {
        harness.failures(1)
        harness.delays.advance(1)
        let gate = Gate()
        defer { gate.open() }
        let token = harness.downloader.start(testURL("/slow"), Recorder(), context: context(gate))
        let record = try #require(onlyTransfer()?.record)
        #expect(core.refusal(of: testURL("/slow"), by: record) == nil)
        harness.downloader.start(testURL("/next"), Recorder())
        #expect(harness.starts == 1 && harness.downloader.statistics.waitingForRetry == 1)
        token.cancel()
        #expect(harness.starts == 2)
    }

    @Test func `All have ended before the first caller is notified`() throws {
        let (gate, states) = (Gate(), Lock<[Bool]>([]))
        defer { gate.open() }
        let other = Lock<DownloadTransfer?>(nil)
        let context = context(gate)
        let request = ImageLoadRequest(url: testURL("/first"), context: context)
        _ = harness.downloader.start(request, progress: nil) { _ in
            let isOver = other.withLock { $0 }?.life.withLock { life in
                if case .over = life.stage { true } else { false }
            }
            states.withLock { $0.append(isOver ?? false) }
        }
        let first = try #require(onlyTransfer()?.record)
        harness.downloader.start(testURL("/second"), Recorder(), context: context)
        let second = core.state.withLock { $0.records.values.first { $0 !== first }?.transfer }
        try #require(second != nil)
        other.withLock { $0 = second }
        harness.downloader.cancelAllDownloads()
        #expect(states.withLock { $0 } == [true])
    }

    @Test func `Waiting for a slow probe is limited`() {
        harness.failures(1)
        harness.delays.advance(1)
        harness.downloader.start(testURL("/stuck"), Recorder())
        harness.downloader.start(testURL("/waiting"), Recorder())
        #expect(harness.starts == 2)
        harness.delays.advance(121)
        let late = Recorder()
        harness.downloader.start(testURL("/late"), late)
        #expect(harness.starts == 3)
        harness.transport.transfers[2].complete([1])
        #expect(late.data == Data([1]) && harness.starts == 4, "and with it all go on")
    }
}
