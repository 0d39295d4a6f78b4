import FoundationEssentials

/// The hosts of a downloader of which there is something to remember. A pure value; times are monotonic nanoseconds.
struct HostTable {
    /// What becomes of a download that would start now.
    enum Admission: Equatable {
        case proceed
        /// It waits this many seconds; nil until it is woken.
        case hold(seconds: Double?)
        /// It fails; the host may be asked again after so many seconds.
        case refuse(seconds: Double, wasAsked: Bool)
    }

    /// Most hosts that are remembered.
    static let capacity = 1024
    /// The longest time, in seconds, for which a download waits for a host that asked to be left alone.
    static let longestHold = 2.0

    private var hosts: [HostKey: HostHealth] = [:]
    /// Downloads that find out about a host.
    private var probes: [UInt64: HostKey] = [:]
    /// Downloads that wait for what others find out.
    private var held: [HostKey: [UInt64]] = [:]

    /// Whether every host may be asked: nothing else needs to be looked at then.
    var isEmpty: Bool { hosts.isEmpty }
    var count: Int { hosts.count }

    subscript(url: URL) -> HostHealth? { HostKey(url).flatMap { hosts[$0] } }

    /// - Parameter mayHold: whether the download can wait.
    mutating func admit(_ url: URL, _ id: UInt64, mayHold: Bool, at now: UInt64) -> Admission {
        guard !hosts.isEmpty, let key = HostKey(url), var health = hosts[key] else { return .proceed }
        let admission = health.admit(id, at: now)
        hosts[key] = health.isWell(at: now) ? nil : health
        switch admission {
        case .proceed: return .proceed
        case .probe:
            probes[id] = key
            return .proceed
        case .awaitProbe:
            guard mayHold else { return .refuse(seconds: 1, wasAsked: false) }
            held[key, default: []].append(id)
            return .hold(seconds: nil)
        case .asked(let nanoseconds):
            let seconds = Double(nanoseconds) / 1e9
            return mayHold && seconds <= Self.longestHold
                ? .hold(seconds: seconds) : .refuse(seconds: seconds, wasAsked: true)
        case .failing(let nanoseconds):
            return .refuse(seconds: Double(nanoseconds) / 1e9, wasAsked: false)
        }
    }

    /// Takes in what a download tells. Those that were held for it and may go on.
    mutating func note(
        _ report: HostReport,
        of id: UInt64,
        policy: HostBackOffPolicy,
        at now: UInt64,
        random: @autoclosure () -> Double
    ) -> [UInt64] {
        var woken: [UInt64] = []
        if let origin = report.origin, let first = HostKey(origin), first != HostKey(report.url) {
            note(first, .answered, nil, of: id, policy, now, 0)
            woken = wake(first)
        }
        guard let key = HostKey(report.url) else { return woken }
        note(key, report.kind, report.retryAfter, of: id, policy, now, random())
        return woken + wake(key)
    }

    /// A download has ended, or its present attempt has: it finds nothing out any more. Those that were held for it.
    mutating func release(_ id: UInt64) -> [UInt64] {
        guard !probes.isEmpty, let key = probes.removeValue(forKey: id) else { return [] }
        hosts[key]?.release(id)
        return wake(key)
    }

    /// Forgets everything. Those that were held.
    mutating func reset() -> [UInt64] {
        defer { self = HostTable() }
        return held.values.flatMap { $0 }.sorted()
    }

    private mutating func note(
        _ key: HostKey,
        _ kind: HostReport.Kind,
        _ retryAfter: Double?,
        of id: UInt64,
        _ policy: HostBackOffPolicy,
        _ now: UInt64,
        _ random: Double
    ) {
        var health = hosts[key] ?? HostHealth()
        health.note(kind, retryAfter: retryAfter, of: id, policy: policy, at: now, random: random)
        guard !health.isWell(at: now) else {
            hosts[key] = nil
            return
        }
        if hosts[key] == nil, hosts.count >= Self.capacity { forgetOldest() }
        hosts[key] = health
    }

    /// Those that wait for a probe, once there is none.
    private mutating func wake(_ key: HostKey) -> [UInt64] {
        if case .halfOpen? = hosts[key]?.circuit { return [] }
        return held.removeValue(forKey: key) ?? []
    }

    /// Makes room: the host goes of which nothing was heard for longest, and which nobody waits for.
    private mutating func forgetOldest() {
        let oldest = hosts.filter { held[$0.key] == nil }.min { $0.value.heardAt < $1.value.heardAt }
        if let oldest { hosts[oldest.key] = nil }
    }
}
