import Dispatch
import Glibc

/// Progress bars on standard error: one per running download, and one for the total. Draws nothing if standard error is not a
/// terminal.
///
/// Protected by its serial queue. Redraws at most every 80 ms (throttling).
final class ProgressDisplay: @unchecked Sendable {
    // Sendable because all state is accessed only on `queue`.
    private struct Bar {
        var label: String
        var received: Int64 = 0
        var expected: Int64?
        var rate: Double?
    }

    private let queue = DispatchQueue(label: "webimage.progress")
    private let isEnabled: Bool
    private let total: Int
    private var finished = 0
    private var failed = 0
    private var order: [Int] = []
    private var bars: [Int: Bar] = [:]
    private var drawnLines = 0
    private var lastDraw: UInt64 = 0
    private var isHeld = false
    private static let mostBars = 8

    init(total: Int, isEnabled: Bool) {
        self.total = total
        self.isEnabled = isEnabled && Terminal.showsProgress
    }

    /// - Parameter rate: The current bytes per second, if known.
    func update(_ id: Int, label: String, received: Int64, expected: Int64?, rate: Double? = nil) {
        guard isEnabled else { return }
        queue.async { [self] in
            if bars[id] == nil { order.append(id) }
            bars[id] = Bar(label: label, received: received, expected: expected, rate: rate)
            draw(force: false)
        }
    }

    func finish(_ id: Int, failed hasFailed: Bool) {
        guard isEnabled else { return }
        queue.async { [self] in
            bars[id] = nil
            order.removeAll { $0 == id }
            finished += 1
            if hasFailed { failed += 1 }
            draw(force: finished == total)
        }
    }

    /// Writes lines to a stream with the bars removed, and returns when they are written (back-pressure): a writer faster than
    /// the reader of a pipe must wait, but not on a thread of Swift's concurrency pool.
    func print(_ text: String, to descriptor: Int32) async {
        await withCheckedContinuation { continuation in
            queue.async { [self] in
                erase()
                Terminal.print(text, to: descriptor)
                if isEnabled, finished < total { draw(force: true) }
                continuation.resume()
            }
        }
    }

    /// Removes the bars until ``release()``, while something else is drawn.
    func hold() async {
        await withCheckedContinuation { continuation in
            queue.async { [self] in
                erase()
                isHeld = true
                continuation.resume()
            }
        }
    }

    /// Allows bars again.
    func release() { queue.async { self.isHeld = false } }

    /// Removes the bars.
    func close() async {
        await withCheckedContinuation { continuation in
            queue.async { [self] in
                erase()
                continuation.resume()
            }
        }
    }

    private func erase() {
        guard drawnLines > 0 else { return }
        Terminal.write("\u{1B}[\(drawnLines)A\r\u{1B}[J", to: STDERR_FILENO)
        drawnLines = 0
    }

    private func draw(force: Bool) {
        guard !isHeld else { return }
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        let now = UInt64(time.tv_sec) * 1000 + UInt64(time.tv_nsec) / 1_000_000
        guard force || now - lastDraw >= 80 else { return }
        lastDraw = now
        let width = Terminal.errorColumns
        var lines = order.prefix(Self.mostBars).compactMap { bars[$0].map { line(for: $0, width: width) } }
        let share = total > 0 ? Double(finished) / Double(total) : 0
        let failures = failed > 0 ? ", \(failed) failed" : ""
        lines.append(
            ProgressDisplay.bar(label: "\(finished) of \(total)\(failures)", share: share, tail: "", width: width)
        )
        erase()
        Terminal.write(lines.map { $0 + "\n" }.joined(), to: STDERR_FILENO)
        drawnLines = lines.count
    }

    private func line(for bar: Bar, width: Int) -> String {
        let share = bar.expected.map { $0 > 0 ? Double(bar.received) / Double($0) : 0 }
        let tail = ProgressDisplay.tail(received: bar.received, rate: bar.rate)
        return Self.bar(label: bar.label, share: share, tail: tail, width: width)
    }

    /// Returns "1.5 MB 300 KB/s": the received bytes, and the rate if known.
    static func tail(received: Int64, rate: Double?) -> String {
        let count = ByteCount.describe(received)
        guard let rate, rate >= 1, rate < 1e15 else { return count }
        return "\(count) \(ByteCount.describe(Int64(rate)))/s"
    }

    /// Returns a line of exactly fitting width: label, bar, tail.
    static func bar(label: String, share: Double?, tail: String, width: Int) -> String {
        let labelWidth = max(min(32, width / 3), 8)
        let barWidth = max(min(40, width - labelWidth - 26), 4)
        var name = Array(label.unicodeScalars.map { $0.isControl ? "?" : Character($0) })
        if name.count > labelWidth { name = ["…"] + name.suffix(labelWidth - 1) }
        let padding = String(repeating: " ", count: labelWidth - name.count)
        let filled = Int((min(max(share ?? 0, 0), 1) * Double(barWidth)).rounded())
        let body =
            share == nil
            ? String(repeating: "·", count: barWidth)
            : String(repeating: "█", count: filled) + String(repeating: "░", count: barWidth - filled)
        let percent = share.map { "\(Int(min(max($0, 0), 1) * 100)) %" } ?? ""
        let left = Terminal.usesColor ? "\u{1B}[36m\(body)\u{1B}[0m" : body
        return "\(String(name))\(padding) \(left) \(percent) \(tail)"
    }
}

/// Formats and parses numbers of bytes.
enum ByteCount {
    /// Returns "512 B", "1.5 KB", "12 MB": powers of 1 000, one decimal below 10.
    static func describe(_ bytes: Int64) -> String {
        let units = ["B", "KB", "MB", "GB", "TB", "PB"]
        var value = Double(bytes)
        var unit = 0
        while value >= 999.5, unit < units.count - 1 {
            value /= 1000
            unit += 1
        }
        if unit == 0 { return "\(bytes) B" }
        if value < 9.95 { return "\((value * 10).rounded() / 10) \(units[unit])" }
        return "\(Int(value.rounded())) \(units[unit])"
    }

    /// Parses "500", "64K", "10MB", "1.5 GiB"; nil if invalid. K, M, G, T are powers of 1 000, Ki, Mi, Gi, Ti of 1 024.
    static func parse(_ text: String) -> Int64? {
        var body = text.lowercased().filter { $0 != " " }
        if body.hasSuffix("b") { body.removeLast() }
        let isBinary = body.hasSuffix("i")
        if isBinary { body.removeLast() }
        let powers: [Character: Int] = ["k": 1, "m": 2, "g": 3, "t": 4]
        var power = 0
        if let last = body.last, let found = powers[last] {
            power = found
            body.removeLast()
        } else if isBinary {
            return nil
        }
        guard let number = Double(body), number.isFinite, number >= 0 else { return nil }
        let value = (0..<power).reduce(number) { value, _ in value * (isBinary ? 1024 : 1000) }
        return value < 9e18 ? Int64(value) : nil
    }
}
