import WebImage

/// Counts requests, and describes the server in the text format of Prometheus.
final class ServerMetrics: Sendable {
    /// The upper bounds of the histogram's buckets, in seconds.
    private static let bounds = [0.0005, 0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

    private struct State {
        var statuses: [Int: Int] = [:]
        var origins: [String: Int] = [:]
        var buckets = [Int](repeating: 0, count: bounds.count + 1)
        var seconds = 0.0
        var byteCount = 0
        var brokenCount = 0
    }

    private let state = Lock(State())

    /// The number of answers.
    var answerCount: Int { state.withLock { $0.statuses.values.reduce(0, +) } }

    func note(_ exchange: HTTPExchangeSummary) {
        let seconds = Double(exchange.nanoseconds) / 1e9
        let bucket = Self.bounds.firstIndex { seconds <= $0 } ?? Self.bounds.count
        state.withLock { state in
            state.statuses[exchange.status, default: 0] += 1
            if !exchange.origin.isEmpty { state.origins[exchange.origin, default: 0] += 1 }
            state.buckets[bucket] += 1
            state.seconds += seconds
            state.byteCount += exchange.byteCount
            if !exchange.isComplete { state.brokenCount += 1 }
        }
    }

    /// A number of the moment.
    struct Gauge {
        var name: String
        var help: String
        var value: Int
    }

    /// Returns the text.
    ///
    /// - Parameters:
    ///   - counters: Numbers that only grow, by other parts.
    ///   - gauges: Numbers of the moment, by other parts.
    func text(counters: [Gauge], gauges: [Gauge]) -> String {
        let state = state.withLock { $0 }
        var lines: [String] = []
        func begin(_ name: String, _ type: String, _ help: String) {
            lines.append("# HELP webimage_\(name) \(help)")
            lines.append("# TYPE webimage_\(name) \(type)")
        }
        begin("http_requests_total", "counter", "Answers by status.")
        for (status, count) in state.statuses.sorted(by: { $0.key < $1.key }) {
            lines.append("webimage_http_requests_total{status=\"\(status)\"} \(count)")
        }
        begin("images_total", "counter", "Image answers by where the bytes came from.")
        for (origin, count) in state.origins.sorted(by: { $0.key < $1.key }) {
            lines.append("webimage_images_total{from=\"\(origin)\"} \(count)")
        }
        begin("http_request_duration_seconds", "histogram", "Time from the head of a request to the end of its answer.")
        var sum = 0
        for (index, count) in state.buckets.enumerated() {
            sum += count
            let bound = index < Self.bounds.count ? "\(Self.bounds[index])" : "+Inf"
            lines.append("webimage_http_request_duration_seconds_bucket{le=\"\(bound)\"} \(sum)")
        }
        lines.append("webimage_http_request_duration_seconds_sum \(state.seconds)")
        lines.append("webimage_http_request_duration_seconds_count \(sum)")
        begin("http_sent_bytes_total", "counter", "Bytes of bodies.")
        lines.append("webimage_http_sent_bytes_total \(state.byteCount)")
        begin("http_broken_total", "counter", "Answers that clients did not wait for.")
        lines.append("webimage_http_broken_total \(state.brokenCount)")
        for (list, type) in [(counters, "counter"), (gauges, "gauge")] {
            for number in list {
                begin(number.name, type, number.help)
                lines.append("webimage_\(number.name) \(number.value)")
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }
}

extension ImageService {
    /// The answer to `/metrics`.
    var metricsText: String {
        let loads = manager.statistics
        let memory = manager.memoryBudget.usage
        return metrics.text(
            counters: [
                .init(name: "downloads_total", help: "Requests to origins.", value: loads.downloads),
                .init(name: "download_failures_total", help: "Failed ones.", value: loads.downloadFailures),
                .init(
                    name: "received_bytes_total",
                    help: "Bytes from origins.",
                    value: Int(loads.receivedByteCount)
                ),
                .init(name: "decodes_total", help: "Decoded images.", value: loads.decodes),
                .init(name: "encodes_total", help: "Encoded images.", value: manager.encodeCount),
                .init(name: "coalesced_total", help: "Times that running work was joined.", value: loads.joined),
            ],
            gauges: [
                .init(name: "requests_waiting", help: "Requests that wait for images.", value: imageLoads.count),
                .init(name: "downloads_waiting", help: "Downloads that wait.", value: loads.waitingDownloads),
                .init(name: "decodes_waiting", help: "Decodes that wait.", value: loads.waitingDecodes),
                .init(name: "open_files", help: "Images on disk whose files are open.", value: files.count),
                .init(name: "hot_bytes", help: "Bytes of encoded images in memory.", value: hot.totalCost),
                .init(name: "decoded_bytes", help: "Bytes of decoded images.", value: memory.heldByteCount),
                .init(name: "draining", help: "1 while the server ends.", value: isDraining ? 1 : 0),
            ]
        )
    }
}
