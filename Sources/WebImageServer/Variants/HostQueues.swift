/// Limits the loads of each host, so that one whose origin hangs does not occupy all downloads. A value without threads.
///
/// Requests of the same image count once, because they share a load.
struct HostQueues: Sendable {
    /// The maximum number of different images of one host that are loaded at a time.
    let limit: Int

    private struct Host {
        /// The number of requests of each image that is loaded.
        var running: [String: Int] = [:]
        /// The waiting requests in order.
        var waiting: [(number: UInt64, key: String)] = []
    }

    private var hosts: [String: Host] = [:]

    init(limit: Int) { self.limit = max(limit, 1) }

    /// The number of requests that wait.
    var waitingCount: Int { hosts.values.reduce(0) { $0 + $1.waiting.count } }

    /// Adds a request; returns whether its load may start now.
    mutating func enter(_ number: UInt64, host: String, key: String) -> Bool {
        var entry = hosts[host] ?? Host()
        let starts = entry.running[key] != nil || entry.running.count < limit
        if starts { entry.running[key, default: 0] += 1 } else { entry.waiting.append((number, key)) }
        hosts[host] = entry
        return starts
    }

    /// Removes a request, whether it runs or waits; returns the requests whose loads may start now.
    mutating func leave(_ number: UInt64, host: String, key: String, isRunning: Bool) -> [UInt64] {
        guard var entry = hosts[host] else { return [] }
        var started: [UInt64] = []
        if isRunning {
            let count = entry.running[key] ?? 1
            entry.running[key] = count > 1 ? count - 1 : nil
            while let first = entry.waiting.first, entry.running.count < limit || entry.running[first.key] != nil {
                entry.waiting.removeFirst()
                entry.running[first.key, default: 0] += 1
                started.append(first.number)
            }
            // Others that want the same image join it, whatever stands before them.
            let joining = entry.waiting.filter { entry.running[$0.key] != nil }
            if !started.isEmpty, !joining.isEmpty {
                entry.waiting.removeAll { entry.running[$0.key] != nil }
                for request in joining { entry.running[request.key, default: 0] += 1 }
                started += joining.map(\.number)
            }
        } else {
            entry.waiting.removeAll { $0.number == number }
        }
        hosts[host] = entry.running.isEmpty && entry.waiting.isEmpty ? nil : entry
        return started
    }
}
