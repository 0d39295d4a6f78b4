import TestSupport
import WebImage

@testable import WebImageHTTP
@testable import WebImageLoading

/// Delays that end when a test says so; time passes with them.
final class ManualDelays: Sendable {
    private struct State {
        var pending: [Int: (due: UInt64, body: @Sendable () -> Void)] = [:]
        var asked: [Double] = []
        var nextID = 0
    }

    let clock = ManualClock()
    private let state = Lock(State())

    /// Those that wait.
    var count: Int { state.withLock { $0.pending.count } }
    /// All that were asked for so far, in seconds.
    var asked: [Double] { state.withLock { $0.asked } }

    var source: DelaySource {
        DelaySource { nanoseconds, body in
            let now = self.clock.source.monotonicNanoseconds()
            let id = self.state.withLock { state -> Int in
                state.nextID += 1
                state.pending[state.nextID] = (now + nanoseconds, body)
                state.asked.append(Double(nanoseconds) / 1e9)
                return state.nextID
            }
            return { withExtendedLifetime(self.state.withLock { $0.pending.removeValue(forKey: id) }) {} }
        }
    }

    /// Lets time pass; what is due is run.
    func advance(_ seconds: Double) {
        clock.advance(seconds)
        let now = clock.source.monotonicNanoseconds()
        let due = state.withLock { state in
            let due = state.pending.filter { $0.value.due <= now }
            for id in due.keys { state.pending[id] = nil }
            return due.values.sorted { $0.due < $1.due }
        }
        for item in due { item.body() }
    }

    /// Runs everything that waits, however long that would take. Without any, no time passes.
    func runAll() {
        guard let last = state.withLock({ $0.pending.values.map(\.due).max() }) else { return }
        let now = clock.source.monotonicNanoseconds()
        advance(last > now ? Double(last - now) / 1e9 + 0.001 : 0)
    }
}

/// A downloader in virtual time, over a transport that the test drives.
struct RetryHarness {
    let transport = FakeTransport()
    let delays = ManualDelays()
    let downloader: WebImageDownloader

    init(
        _ policy: DownloadRetryPolicy = .exact,
        maxConcurrentDownloads: Int = 6,
        hostBackOff: HostBackOffPolicy = .never
    ) {
        var config = WebImageDownloaderConfig()
        config.retryPolicy = policy
        config.hostBackOff = hostBackOff
        config.maxConcurrentDownloads = maxConcurrentDownloads
        downloader = WebImageDownloader(
            core: DownloaderCore(
                config: config,
                transport: transport,
                clock: delays.clock.source,
                delays: delays.source,
                accept: WebImageDownloader.sharedAccept,
                random: { 0.5 }
            ),
            pipeline: .prompt
        )
    }

    var starts: Int { transport.transfers.count }

    func fail(_ number: Int, _ code: WebImageError.Code = .networkConnectionLost) {
        transport.transfers[number].end(WebImageError(code, "attempt \(number)"))
    }
}

extension DownloadRetryPolicy {
    /// Three further attempts after 1, 2 and 4 seconds, without chance.
    static var exact: DownloadRetryPolicy {
        var policy = DownloadRetryPolicy()
        policy.maximumRetryCount = 3
        policy.baseDelay = 1
        policy.jitter = 0
        return policy
    }
}
