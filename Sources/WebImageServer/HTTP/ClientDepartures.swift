import CMicrohttpd
import Glibc
import WebImage

/// The requests whose answers are being made, and a thread that notices when their clients leave: libmicrohttpd does not look at
/// suspended connections.
final class ClientDepartures: Sendable {
    private struct Waiting {
        let socket: Int32
        let exchange: MicroHTTPExchange
    }

    private struct State {
        var waiting: [UInt64: Waiting] = [:]
        var lastNumber: UInt64 = 0
        var isStopped = false
        var whenEmpty: [Latch] = []
    }

    private let descriptor: Int32
    private let state = Lock(State())
    private let threadEnd = Latch()

    /// Nil if the system has no descriptor or no thread.
    init?() {
        descriptor = webimage_http_departures_open()
        let isStarted =
            descriptor >= 0
            && DetachedThread.start(name: "webimage-leave") { [descriptor, state, threadEnd] in
                Self.watch(descriptor, state)
                threadEnd.open()
            }
        guard isStarted else {
            // `deinit` waits for it.
            threadEnd.open()
            return nil
        }
    }

    deinit {
        stop()
        close(descriptor)
    }

    /// The number of requests that wait.
    var count: Int { state.withLock { $0.waiting.count } }

    /// Adds a request; returns its number.
    func add(_ exchange: MicroHTTPExchange, socket: Int32) -> UInt64 {
        let number = state.withLock { state in
            state.lastNumber += 1
            state.waiting[state.lastNumber] = Waiting(socket: socket, exchange: exchange)
            return state.lastNumber
        }
        if socket >= 0 { _ = webimage_http_departures_add(descriptor, socket, number) }
        return number
    }

    /// Removes a request, then resumes its connection.
    func remove(_ number: UInt64, then resume: () -> Void) {
        let socket = state.withLock { $0.waiting[number]?.socket }
        if let socket, socket >= 0 { webimage_http_departures_remove(descriptor, socket) }
        resume()
        // Counted until it is resumed: the server must not be stopped before.
        let latches = state.withLock { state -> [Latch] in
            state.waiting[number] = nil
            guard state.waiting.isEmpty else { return [] }
            defer { state.whenEmpty = [] }
            return state.whenEmpty
        }
        for latch in latches { latch.open() }
    }

    /// Cancels the work of all requests.
    func cancelAll() {
        for waiting in state.withLock({ Array($0.waiting.values) }) { waiting.exchange.cancel() }
    }

    /// Returns when no request waits.
    func waitUntilEmpty() {
        let latch = state.withLock { state -> Latch? in
            guard !state.waiting.isEmpty else { return nil }
            let latch = Latch()
            state.whenEmpty.append(latch)
            return latch
        }
        latch?.wait()
    }

    /// Ends the thread.
    func stop() {
        state.withLock { $0.isStopped = true }
        threadEnd.wait()
    }

    private static func watch(_ descriptor: Int32, _ state: Lock<State>) {
        var numbers = [UInt64](repeating: 0, count: 64)
        while !state.withLock({ $0.isStopped }) {
            let count = webimage_http_departures_wait(descriptor, &numbers, Int32(numbers.count), 100)
            guard count > 0 else { continue }
            let left = state.withLock { state in numbers.prefix(Int(count)).compactMap { state.waiting[$0]?.exchange } }
            for exchange in left { exchange.cancel() }
        }
    }
}
