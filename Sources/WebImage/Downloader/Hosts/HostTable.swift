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

    /// How many nanoseconds pass, at least, between two looks at what has become too old.
    static let sweepInterval: UInt64 = 60_000_000_000

    private var hosts: [HostKey: HostHealth] = [:]
    /// Of those, how many may have to be left alone. The others are only counted.
    private var blocking = 0
    private var sweptAt: UInt64 = 0
    /// Downloads that find out about a host.
    private var probes: [UInt64: HostKey] = [:]
    /// Downloads that wait for what others find out.
    private var held: [HostKey: [UInt64]] = [:]

    /// Whether there is nothing to remember: what is well needs not be told then.
    var isEmpty: Bool { hosts.isEmpty }
    /// Whether some host may have to be left alone. Otherwise every download may start, and no URL needs to be looked at.
    var mayBlock: Bool { blocking > 0 }
    var count: Int { hosts.count }

    subscript(url: URL) -> HostHealth? { HostKey(url).flatMap { hosts[$0] } }

    /// - Parameter mayHold: whether the download can wait.
    mutating func admit(_ url: URL, _ id: UInt64, mayHold: Bool, at now: UInt64) -> Admission {
        guard mayBlock, let key = HostKey(url), var health = hosts[key] else { return .proceed }
        let admission = health.admit(id, at: now)
        put(health.isWell(at: now) ? nil : health, key)
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
        sweep(at: now)
        var woken: [UInt64] = []
        let key = HostKey(report.url)
        // It has sent the request elsewhere. Where nobody knows which place did not answer, its own is told of.
        if let origin = report.origin, let first = HostKey(origin), first != key || report.kind == .silent {
            note(first, .answered, nil, of: id, policy, now, 0)
            woken = wake(first)
        }
        guard let key else { return woken }
        note(key, report.kind, report.retryAfter, of: id, policy, now, random())
        return woken + wake(key)
    }

    /// A download has ended, or its present attempt has: it finds nothing out any more. Those that were held for it.
    mutating func release(_ id: UInt64) -> [UInt64] {
        guard !probes.isEmpty, let key = probes.removeValue(forKey: id) else { return [] }
        if var health = hosts[key] {
            health.release(id)
            put(health, key)
        }
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
        _ random: @autoclosure () -> Double
    ) {
        let known = hosts[key]
        var health = known ?? HostHealth()
        health.note(kind, retryAfter: retryAfter, of: id, policy: policy, at: now, random: random())
        if health.isWell(at: now) {
            if known != nil { put(nil, key) }
            return
        }
        if known == nil, hosts.count >= Self.capacity { forgetOldest() }
        put(health, key)
    }

    private mutating func put(_ health: HostHealth?, _ key: HostKey) {
        let former: HostHealth?
        if let health {
            former = hosts.updateValue(health, forKey: key)
            if health.mayBlock { blocking += 1 }
        } else {
            former = hosts.removeValue(forKey: key)
        }
        if former?.mayBlock ?? false { blocking -= 1 }
    }

    /// Forgets what is too old to count, now and then: hosts that are not asked any more would stay for good.
    private mutating func sweep(at now: UInt64) {
        guard !hosts.isEmpty, now >= sweptAt, now - sweptAt >= Self.sweepInterval else { return }
        sweptAt = now
        let stale = hosts.filter { $0.value.isStale(at: now) && held[$0.key] == nil }
        for key in stale.keys { put(nil, key) }
    }

    /// Those that wait for a probe, once there is none.
    private mutating func wake(_ key: HostKey) -> [UInt64] {
        if case .halfOpen? = hosts[key]?.circuit { return [] }
        return held.removeValue(forKey: key) ?? []
    }

    /// Makes room: the host goes of which nothing was heard for longest, and which nobody waits for.
    private mutating func forgetOldest() {
        var oldest: (key: HostKey, heardAt: UInt64)?
        for (key, health) in hosts where health.heardAt < oldest?.heardAt ?? .max && held[key] == nil {
            oldest = (key, health.heardAt)
        }
        if let oldest { put(nil, oldest.key) }
    }
}
