import FoundationEssentials
import HTTPTestSupport
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageHTTP
@testable import WebImageLoading

/// Downloads with request modifiers that find out about a host: whoever is given up meanwhile does not keep the others waiting.
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

    @Test func `A request whose download was given up is not the one that others wait for`() throws {
        harness.failures(1)
        harness.delays.clock.advance(1)
        let gate = Gate()
        defer { gate.open() }
        let token = harness.downloader.start(testURL("/slow"), Recorder(), context: context(gate))
        let record = try #require(onlyTransfer()?.record)
        token.cancel()
        // The modifier is done just now, and looks whether the host may be asked.
        #expect(core.refusal(of: testURL("/slow"), by: record) == nil)
        let next = Recorder()
        harness.downloader.start(testURL("/next"), next)
        #expect(harness.starts == 2, "it finds out itself")
        harness.transport.transfers[1].complete([1])
        #expect(next.data == Data([1]))
    }

    @Test func `A request that is waited for is the one that others wait for, until it is given up`() throws {
        harness.failures(1)
        harness.delays.clock.advance(1)
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

    @Test func `All are over before the first caller hears of it`() throws {
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

    @Test func `One that takes too long is not waited for for ever`() {
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
