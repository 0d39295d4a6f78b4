import FoundationEssentials

/// What transfers report.
extension DownloaderCore {
    /// What is being sent, as the hooks made it.
    func note(_ request: DownloadRequest, of id: UInt64) {
        state.withLock { state in
            guard let index = state.records.index(forKey: id) else { return }
            state.records.values[index].request = request
            for subscriber in state.records.values[index].members.values { subscriber.note(request) }
        }
    }

    func note(_ response: HTTPResponse, of id: UInt64) {
        let listeners = locked { state -> [DownloadSubscriber] in
            guard let index = state.records.index(forKey: id) else { return [] }
            state.records.values[index].response = response
            for subscriber in state.records.values[index].members.values { subscriber.note(response) }
            if state.isObserved { state.emit(.receivedResponse(state.records.values[index].info, response)) }
            return state.records.values[index].tell { _ in .firstByte(response) }
        }
        for listener in listeners { listener.deliverEvents() }
    }

    func report(_ progress: LoadProgress, of id: UInt64) {
        var progress = progress
        let listeners = state.withLock { state -> [DownloadSubscriber] in
            guard let index = state.records.index(forKey: id) else { return [] }
            let isHeard = state.records.values[index].hasListeners
            if isHeard {
                let now = clock.monotonicNanoseconds()
                state.records.values[index].meter.note(total: progress.receivedByteCount, at: now)
                progress.bytesPerSecond = state.records.values[index].meter.rate(at: now)
            }
            // What was there before has not come over the line now.
            let before =
                state.records.values[index].progress?.receivedByteCount ?? state.records.values[index].resumedByteCount
            state.records.values[index].progress = progress
            if state.line.add(progress.receivedByteCount - before) {
                state.line.noteBytes(at: clock.monotonicNanoseconds())
            }
            return isHeard ? state.records.values[index].members.values.filter(\.wantsProgress) : []
        }
        for listener in listeners { listener.post(progress) }
    }

    /// The callers' places for what has come so far, of those who want to see it.
    func previewers(of id: UInt64) -> [PartialImageData] {
        let all = state.withLock { $0.records[id]?.members.values.compactMap(\.partialData) ?? [] }
        return all.filter(\.isWanted)
    }

    /// The body of a transfer begins.
    ///
    /// - Parameter resumedByteCount: how many bytes of it there are already; previews go on from those.
    func noteBodyBegins(of id: UInt64, resumedByteCount: Int) {
        let places = state.withLock { state -> [PartialImageData] in
            guard let index = state.records.index(forKey: id) else { return [] }
            state.records.values[index].resumedByteCount = Int64(resumedByteCount)
            return resumedByteCount > 0 ? [] : state.records.values[index].members.values.compactMap(\.partialData)
        }
        for place in places { place.begin() }
    }

    /// The network has done its part of a transfer whose end is still to come, because its bytes are being decrypted: it gives
    /// its place to the next download.
    func networkDidEnd(_ id: UInt64) {
        run(
            locked { state -> [Turn] in
                state.coordinator.release(id)
                return takeStarts(&state)
            }
        )
    }

    enum Ending {
        case again(Wait)
        case over(DownloadRecord, [UInt64])
    }

    /// An attempt has ended: either the download has, or another attempt follows.
    func finish(
        _ id: UInt64,
        attempt: Int,
        _ result: Result<LoadedImageData, WebImageError>,
        metrics: DownloadMetrics
    ) {
        let (ending, turns, pauses) = locked { state -> (Ending?, [Turn], [DownloadRecord.Pause]) in
            // Perhaps nobody waits for this attempt any more.
            guard let index = state.records.index(forKey: id), state.records.values[index].pause == nil,
                state.records.values[index].attempt == attempt
            else { return (nil, [], []) }
            state.noteReceived(metrics.receivedByteCount)
            let ending = conclude(index, result, metrics: metrics, &state)
            let pauses = wake(state.hosts.release(id), &state)
            return (ending, takeStarts(&state), pauses)
        }
        withExtendedLifetime(pauses) {}
        switch ending {
        case nil: break
        case .again(let wait)?:
            pause(wait)
            run(turns)
        case .over(let record, let tokens)?:
            // The network first, then the callers.
            run(turns)
            record.finish(tokens, result, metrics: metrics)
            retireIfDone()
        }
    }

    /// Puts a download aside whose attempt has failed and is followed by another, or takes out one that has ended.
    func conclude(
        _ index: Dictionary<UInt64, DownloadRecord>.Index,
        _ result: Result<LoadedImageData, WebImageError>,
        metrics: DownloadMetrics,
        _ state: inout DownloaderState
    ) -> Ending {
        let (id, attempt) = (state.records.values[index].id, state.records.values[index].attempt)
        if case .failure(let error) = result, let seconds = retryDelay(after: error, of: index, &state) {
            if state.isObserved {
                state.emit(.willRetry(state.records.values[index].info, error, after: seconds))
            }
            state.counts.retries += 1
            let listeners = state.records.values[index].tellRetry(error, after: seconds)
            state.records.values[index].beginNextAttempt(now: clock.monotonicNanoseconds())
            state.coordinator.park(id)
            return .again(Wait(id: id, attempt: attempt + 1, seconds: seconds, listeners: listeners))
        }
        let tokens = state.coordinator.close(id)
        let record = state.records.remove(at: index).value
        var error: WebImageError?
        if case .failure(let failure) = result { error = failure }
        state.noteEnd(of: record, error: error, metrics: record.completed(metrics))
        return .over(record, tokens)
    }

    // MARK: Further attempts

    /// Seconds until the next attempt; nil when there is none.
    private func retryDelay(
        after error: WebImageError,
        of index: Dictionary<UInt64, DownloadRecord>.Index,
        _ state: inout DownloaderState
    ) -> Double? {
        let record = state.records.values[index]
        let policy = record.key.hooks?.retryPolicy ?? state.config.value.retryPolicy
        guard policy.maximumRetryCount > 0 else { return nil }
        let decision = state.records.values[index].retries.decide(
            error,
            policy: policy,
            response: record.response,
            method: record.request?.method ?? "GET",
            wallTime: clock.wallTime(),
            random: random()
        )
        guard case .wait(let seconds) = decision else { return nil }
        if let deadline = record.deadline(state.config.value.sourcePolicy) {
            // An attempt that would begin after the end is none: what is known by now is told at once.
            let now = clock.monotonicNanoseconds()
            guard now < deadline, TransferTimer.nanoseconds(seconds) < deadline - now else { return nil }
        }
        return seconds
    }
}

extension DownloadRecord {
    /// The last attempt's metrics, with what the record knows of those before.
    func completed(_ metrics: DownloadMetrics) -> DownloadMetrics {
        var metrics = metrics
        metrics.attemptCount = attempt
        metrics.waitedForRetry = Double(paused) / 1e9
        return metrics
    }

    /// Tells the callers, in the order they came. Call without a lock.
    func finish(
        _ tokens: [UInt64],
        _ result: Result<LoadedImageData, WebImageError>,
        metrics: DownloadMetrics
    ) {
        let metrics = completed(metrics)
        let result = result.map { loaded in
            var loaded = loaded
            loaded.metrics = metrics
            return loaded
        }
        if case .success = result { shareDecodes() }
        for token in tokens { members[token]?.finish(result, metrics: metrics) }
    }

    /// Lets the callers that want pictures decode together.
    private func shareDecodes() {
        guard members.count > 1 else { return }
        let stages = members.values.compactMap(\.stage)
        guard stages.count > 1 else { return }
        let share = DecodeShare()
        for stage in stages { stage.use(share) }
    }
}
