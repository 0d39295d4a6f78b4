import FoundationEssentials

/// Back-off of hosts.
extension DownloaderCore {
    /// Returns the admission of a download that is next in the queue. With a request modifier, the final URL is not known yet; then
    /// `refusal` checks the modified request.
    func admission(of record: DownloadRecord, _ state: inout DownloaderState) -> HostTable.Admission {
        guard state.hosts.mayBlock, state.hooks.requestModifier == nil, record.hooks.requestModifier == nil
        else { return .proceed }
        return state.hosts.admit(record.url, record.id, mayHold: true, at: clock.monotonicNanoseconds())
    }

    /// Returns the error if a request from a modifier must not be sent. A request without callers is not admitted: it reports
    /// nothing about the host, and must not become the probe that others wait for.
    func refusal(of url: URL, by record: DownloadRecord) -> WebImageError? {
        state.withLock { state -> WebImageError? in
            guard state.hosts.mayBlock, state.has(record) else { return nil }
            let admission = state.hosts.admit(url, record.id, mayHold: false, at: clock.monotonicNanoseconds())
            guard case .refuse(let seconds, let wasAsked) = admission else { return nil }
            return Self.hostUnavailable(seconds, wasAsked: wasAsked)
        }
    }

    static func hostUnavailable(_ seconds: Double, wasAsked: Bool) -> WebImageError {
        let reason = wasAsked ? "asked clients to wait" : "failed too often and is in back-off"
        let tenths = (min(seconds, 1e9) * 10).rounded(.up) / 10
        var error = WebImageError(.hostUnavailable, "request not sent: the host \(reason), for another \(tenths) s")
        error.retryAfter = seconds
        return error
    }

    /// Updates the host table with the outcome of a sent request.
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

    /// Puts downloads back into the queue that were held until a probe of their host ended.
    func wake(_ held: [UInt64], _ state: inout DownloaderState) {
        guard !held.isEmpty else { return }
        let now = clock.monotonicNanoseconds()
        for id in held {
            guard let record = state.records[id], record.pause?.isForHost == true else { continue }
            state.endPause(of: record, at: now)
        }
    }
}
