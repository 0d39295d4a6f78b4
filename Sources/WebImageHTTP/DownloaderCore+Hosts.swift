import FoundationEssentials

/// Hosts that are left alone.
extension DownloaderCore {
    /// What becomes of a download whose turn has come. What a modifier makes of its request is not known yet: then the request
    /// itself is looked at, by `refusal`.
    func admission(of record: DownloadRecord, _ state: inout DownloaderState) -> HostTable.Admission {
        guard state.hosts.mayBlock, state.hooks.requestModifier == nil, record.hooks.requestModifier == nil
        else { return .proceed }
        return state.hosts.admit(record.url, record.id, mayHold: true, at: clock.monotonicNanoseconds())
    }

    /// Why a request that a modifier has made must not be sent, or nil. One that nobody waits for any more is not asked about: it
    /// tells nothing of the host, and must not be the one that others wait for.
    func refusal(of url: URL, by record: DownloadRecord) -> WebImageError? {
        state.withLock { state -> WebImageError? in
            guard state.hosts.mayBlock, state.has(record) else { return nil }
            let admission = state.hosts.admit(url, record.id, mayHold: false, at: clock.monotonicNanoseconds())
            guard case .refuse(let seconds, let wasAsked) = admission else { return nil }
            return Self.hostUnavailable(seconds, wasAsked: wasAsked)
        }
    }

    static func hostUnavailable(_ seconds: Double, wasAsked: Bool) -> WebImageError {
        let reason = wasAsked ? "asked to be left alone" : "failed too often and is left alone"
        let tenths = (min(seconds, 1e9) * 10).rounded(.up) / 10
        var error = WebImageError(.hostUnavailable, "nothing was sent: the host \(reason), for another \(tenths) s")
        error.retryAfter = seconds
        return error
    }

    /// What a request that was sent says about its host.
    func note(_ report: HostReport, of record: DownloadRecord) {
        update { state in
            guard report.kind != .answered || report.retryAfter != nil || !state.hosts.isEmpty else { return }
            let held = state.hosts.note(
                report,
                of: record.id,
                policy: state.config.value.hostBackOff,
                at: clock.monotonicNanoseconds(),
                random: random()
            )
            wake(held, &state)
        }
    }

    /// Lets those wait for their turn again that were held for what another finds out.
    func wake(_ held: [UInt64], _ state: inout DownloaderState) {
        guard !held.isEmpty else { return }
        let now = clock.monotonicNanoseconds()
        for id in held {
            guard let record = state.records[id], record.pause?.isForHost == true else { continue }
            state.endPause(of: record, at: now)
        }
    }
}
