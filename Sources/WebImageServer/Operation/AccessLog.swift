import FoundationEssentials
import Glibc
import WebImage

/// Writes one line of JSON for each request. Lines are collected and written by a separate thread, so that a slow reader of the log delays no
/// client; if it is too slow, lines are dropped.
final class AccessLog: Sendable {
    private struct State {
        var bytes: [UInt8] = []
        var droppedCount = 0
        var isStopped = false
    }

    /// The bytes that may wait to be written.
    private static let limit = 4 << 20

    private let descriptor: Int32
    private let clock: ClockSource
    private let state = ConditionLock(State())
    private let threadEnd = Latch()

    /// - Parameter descriptor: The file to write to, which stays open.
    init(descriptor: Int32, clock: ClockSource = .system) {
        (self.descriptor, self.clock) = (descriptor, clock)
        let isStarted = DetachedThread.start(name: "webimage-log") { [descriptor, state, threadEnd] in
            Self.write(from: state, to: descriptor)
            threadEnd.open()
        }
        if !isStarted { threadEnd.open() }
    }

    deinit { close() }

    /// Writes what waits, and ends the thread.
    func close() {
        state.withLock { $0.isStopped = true }
        state.broadcast()
        threadEnd.wait()
    }

    /// The number of lines that were dropped.
    var droppedCount: Int { state.withLock { $0.droppedCount } }

    func add(_ exchange: HTTPExchangeSummary) {
        let line = Self.line(exchange, time: clock.wallTime())
        state.withLock { state in
            guard state.bytes.count + line.utf8.count <= Self.limit else {
                state.droppedCount += 1
                return
            }
            state.bytes += line.utf8
        }
    }

    /// Returns the line of a request, with its end.
    static func line(_ exchange: HTTPExchangeSummary, time: Double) -> String {
        let milliseconds = Double(exchange.nanoseconds / 1000) / 1000
        var line = "{\"time\":\(Double(Int(time * 1000)) / 1000),\"client\":\(quoted(exchange.client))"
        line += ",\"method\":\(quoted(exchange.method)),\"path\":\(quoted(exchange.target))"
        line += ",\"status\":\(exchange.status),\"bytes\":\(exchange.byteCount),\"ms\":\(milliseconds)"
        if !exchange.origin.isEmpty { line += ",\"from\":\(quoted(exchange.origin))" }
        if !exchange.isComplete { line += ",\"complete\":false" }
        if let agent = exchange.userAgent { line += ",\"agent\":\(quoted(agent))" }
        if let cause = exchange.cause { line += ",\"error\":\(quoted(cause))" }
        return line + "}\n"
    }

    /// Returns a JSON string. Lengths are limited, because texts come from clients.
    private static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars.prefix(2048) {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case _ where scalar.value < 32 || scalar.value == 127 || (0x2028...0x2029).contains(scalar.value):
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }

    private static func write(from state: ConditionLock<State>, to descriptor: Int32) {
        while true {
            // Lines are not written one by one: each would cost a wake-up.
            _ = state.wait(seconds: 0.1) { $0.isStopped ? true : nil }
            let (bytes, isStopped) = state.withLock { state in
                defer { state.bytes = [] }
                return (state.bytes, state.isStopped)
            }
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { break }
                rest = rest.dropFirst(count)
            }
            if isStopped { return }
        }
    }
}
