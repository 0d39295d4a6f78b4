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
        /// The number of waiting requests of each image.
        var waitingKeys: [String: Int] = [:]
        var pace = QueuePace()

        /// Takes requests out of those that wait.
        mutating func takeWaiting(where isTaken: (UInt64, String) -> Bool) -> [(number: UInt64, key: String)] {
            let taken = waiting.filter { isTaken($0.number, $0.key) }
            guard !taken.isEmpty else { return [] }
            waiting.removeAll { isTaken($0.number, $0.key) }
            for request in taken {
                let count = waitingKeys[request.key] ?? 1
                waitingKeys[request.key] = count > 1 ? count - 1 : nil
            }
            return taken
        }
    }

    private var hosts: [String: Host] = [:]

    init(limit: Int) { self.limit = max(limit, 1) }

    /// The number of requests that wait.
    var waitingCount: Int { hosts.values.reduce(0) { $0 + $1.waiting.count } }

    /// Returns the seconds until the load of another image could start; 0 if that is not known, or if the image is loaded already.
    func wait(host: String, key: String) -> Double {
        guard let entry = hosts[host], entry.running[key] == nil, entry.waitingKeys[key] == nil else { return 0 }
        return entry.pace.seconds(for: entry.waitingKeys.count)
    }

    /// Adds a request; returns whether its load may start now.
    mutating func enter(_ number: UInt64, host: String, key: String) -> Bool {
        // Removed while it is changed, so that its lists are not copied.
        var entry = hosts.removeValue(forKey: host) ?? Host()
        let starts = entry.running[key] != nil || entry.running.count < limit
        if starts {
            entry.running[key, default: 0] += 1
        } else {
            entry.waiting.append((number, key))
            entry.waitingKeys[key, default: 0] += 1
        }
        hosts[host] = entry
        return starts
    }

    /// Removes a request, whether it runs or waits; returns the requests whose loads may start now.
    ///
    /// - Parameter now: Seconds of a monotonic clock.
    mutating func leave(_ number: UInt64, host: String, key: String, isRunning: Bool, now: Double) -> [UInt64] {
        guard var entry = hosts.removeValue(forKey: host) else { return [] }
        var started: [UInt64] = []
        if isRunning {
            let count = entry.running[key] ?? 1
            entry.running[key] = count > 1 ? count - 1 : nil
            if count == 1 { entry.pace.noteEnd(isWaitedFor: !entry.waiting.isEmpty, now: now) }
            while let first = entry.waiting.first, entry.running.count < limit || entry.running[first.key] != nil {
                // Others that want the same image join it, whatever stands before them.
                let joining = entry.takeWaiting { $1 == first.key }
                entry.running[first.key, default: 0] += joining.count
                started += joining.map(\.number)
            }
        } else {
            _ = entry.takeWaiting { own, _ in own == number }
        }
        hosts[host] = entry.running.isEmpty && entry.waiting.isEmpty ? nil : entry
        return started
    }
}
