import FoundationEssentials

/// The hosts of a downloader that have state to remember. A pure value; times are monotonic nanoseconds.
struct HostTable {
    /// The admission of a download that would start now.
    enum Admission: Equatable {
        case proceed
        /// It waits this many seconds; nil until it is woken.
        case hold(seconds: Double?)
        /// It fails; the host may be contacted again after `seconds`.
        case refuse(seconds: Double, wasAsked: Bool)
    }

    /// The maximum number of remembered hosts.
    static let capacity = 1024
    /// The maximum time, in seconds, for which a download waits for a host that asked clients to wait.
    static let longestHold = 2.0

    /// The minimum interval, in nanoseconds, between two removals of stale entries.
    static let sweepInterval: UInt64 = 60_000_000_000

    private(set) var hosts: [HostKey: HostHealth] = [:]
    /// The number of hosts that may block downloads. The others only have counts.
    private var blocking = 0
    /// URLs whose responses had `Retry-After`, by their hashes, and the times at which the wait ends.
    private var askedURLs: [Int: UInt64] = [:]
    private var sweptAt: UInt64 = 0
    /// Downloads that probe a host.
    private var probes: [UInt64: HostKey] = [:]
    /// Downloads that wait for the outcome of a probe.
    private var held: [HostKey: [UInt64]] = [:]

    /// True if there is no state: successful responses need not be reported then.
    var isEmpty: Bool { hosts.isEmpty && askedURLs.isEmpty }
    /// True if some host or URL may block downloads. If false, every download may start, and no URL needs a lookup.
    var mayBlock: Bool { blocking > 0 || !askedURLs.isEmpty }

    /// Admits a download.
    ///
    /// - Parameter mayHold: true if the download can wait.
    mutating func admit(_ url: URL, _ id: UInt64, mayHold: Bool, at now: UInt64) -> Admission {
        if let wait = askedWait(url, at: now) { return Self.waiting(wait, mayHold: mayHold) }
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
            return Self.waiting(nanoseconds, mayHold: mayHold)
        case .failing(let nanoseconds):
            return .refuse(seconds: Double(nanoseconds) / 1e9, wasAsked: false)
        }
    }

    private static func waiting(_ nanoseconds: UInt64, mayHold: Bool) -> Admission {
        let seconds = Double(nanoseconds) / 1e9
        return mayHold && seconds <= longestHold ? .hold(seconds: seconds) : .refuse(seconds: seconds, wasAsked: true)
    }

    /// Returns the remaining nanoseconds of a URL's `Retry-After`; nil if there is none.
    private mutating func askedWait(_ url: URL, at now: UInt64) -> UInt64? {
        guard !askedURLs.isEmpty, let until = askedURLs[Self.hash(of: url)] else { return nil }
        if until > now { return until - now }
        askedURLs[Self.hash(of: url)] = nil
        return nil
    }

    private mutating func noteAsk(_ url: URL, _ retryAfter: Double, _ policy: HostBackOffPolicy, at now: UInt64) {
        let seconds = BackOff.clamp(retryAfter, to: BackOff.clamp(policy.maximumRetryAfter, to: .infinity))
        guard seconds > 0 else { return }
        let until = now.adding(clamped: TransferTimer.nanoseconds(seconds))
        let hash = Self.hash(of: url)
        if askedURLs[hash] == nil, askedURLs.count >= Self.capacity {
            if let first = askedURLs.min(by: { $0.value < $1.value }) { askedURLs[first.key] = nil }
        }
        askedURLs[hash] = max(askedURLs[hash] ?? 0, until)
    }

    /// The hash differs between processes, so that an attacker cannot find a URL that collides with another.
    private static func hash(of url: URL) -> Int { url.absoluteString.hashValue }

    /// Updates the table with a download's report. Returns the held downloads that may continue.
    mutating func note(
        _ report: HostReport,
        of id: UInt64,
        policy: HostBackOffPolicy,
        at now: UInt64,
        random: @autoclosure () -> Double
    ) -> [UInt64] {
        sweep(at: now)
        guard let key = HostKey(report.url) else { return [] }
        var health = hosts[key] ?? HostHealth()
        let isOfHost = health.countAsk(report.retryAfter, report.kind, policy)
        let wish = isOfHost ? report.retryAfter : nil
        health.note(report.kind, retryAfter: wish, of: id, policy: policy, at: now, random: random())
        let isWell = health.isWell(at: now)
        if !isWell, hosts[key] == nil, hosts.count >= Self.capacity { forgetOldest() }
        put(isWell ? nil : health, key)
        if let retryAfter = report.retryAfter, !isOfHost {
            for url in [report.url, report.origin] { if let url { noteAsk(url, retryAfter, policy, at: now) } }
        }
        return wake(key)
    }

    /// Ends a download's probe when the download or its current attempt ends. Returns the downloads that were held for the probe.
    mutating func release(_ id: UInt64) -> [UInt64] {
        guard !probes.isEmpty, let key = probes.removeValue(forKey: id) else { return [] }
        if var health = hosts[key] {
            health.release(id)
            put(health, key)
        }
        return wake(key)
    }

    /// Forgets everything. Returns the held downloads.
    mutating func reset() -> [UInt64] {
        defer { self = HostTable() }
        return held.values.flatMap { $0 }.sorted()
    }

    private mutating func put(_ health: HostHealth?, _ key: HostKey) {
        if hosts[key]?.mayBlock == true { blocking -= 1 }
        hosts[key] = health
        if health?.mayBlock == true { blocking += 1 }
    }

    /// Removes stale entries from time to time: hosts that are not contacted again would stay forever.
    private mutating func sweep(at now: UInt64) {
        guard !isEmpty, now >= sweptAt, now - sweptAt >= Self.sweepInterval else { return }
        sweptAt = now
        if !askedURLs.isEmpty { askedURLs = askedURLs.filter { $0.value > now } }
        let stale = hosts.filter { $0.value.isStale(at: now) && held[$0.key] == nil }
        for key in stale.keys { put(nil, key) }
    }

    /// Returns the downloads that wait for a probe, once no probe is running.
    private mutating func wake(_ key: HostKey) -> [UInt64] {
        if case .halfOpen? = hosts[key]?.circuit { return [] }
        return held.removeValue(forKey: key) ?? []
    }

    /// Frees a slot: evicts the host that was silent for longest and has no waiting downloads.
    private mutating func forgetOldest() {
        var oldest: (key: HostKey, heardAt: UInt64)?
        for (key, health) in hosts where health.heardAt < oldest?.heardAt ?? .max && held[key] == nil {
            oldest = (key, health.heardAt)
        }
        if let oldest { put(nil, oldest.key) }
    }
}
