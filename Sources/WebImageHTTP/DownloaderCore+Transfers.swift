import FoundationEssentials

/// Handles the reports of transfers.
extension DownloaderCore {
    /// Records the request that is being sent, after the hooks' changes.
    func note(_ request: DownloadRequest, of record: DownloadRecord) {
        state.withLock { if $0.has(record) { record.course.request = request } }
    }

    func note(_ response: HTTPResponse, of record: DownloadRecord) {
        let events = locked { state -> CallbackMailbox? in
            guard state.has(record) else { return nil }
            record.course.response = response
            if state.isObserved { state.emit(.receivedResponse(record.info, response)) }
            return record.leave(.firstByte(response))
        }
        events?.deliver()
    }

    /// - Parameter resumedByteCount: passed when the body begins: the number of its bytes that were received earlier.
    func report(_ progress: LoadProgress, of record: DownloadRecord, resumedByteCount: Int? = nil) {
        var progress = progress
        let receive = state.withLock { state -> (@Sendable (LoadProgress) -> Void)? in
            guard state.has(record) else { return nil }
            if let resumedByteCount { record.course.resumedByteCount = Int64(resumedByteCount) }
            let now = clock.monotonicNanoseconds()
            record.course.meter.note(total: progress.receivedByteCount, at: now)
            progress.bytesPerSecond = record.course.meter.rate(at: now)
            // Bytes of earlier attempts have not arrived now, so the rate does not count them.
            let before = record.course.progress?.receivedByteCount ?? record.course.resumedByteCount
            record.course.progress = progress
            state.line.add(progress.receivedByteCount - before, at: now)
            return record.onProgress
        }
        receive?(progress)
    }

    /// Releases the slot of a transfer whose network part is over but whose bytes are still being decrypted, so that the next
    /// download starts.
    func networkDidEnd(_ record: DownloadRecord) {
        update { if $0.has(record) { $0.leavePlace(record) } }
    }

    /// Handles the end of an attempt: either the download ends, or another attempt follows.
    func finish(
        _ record: DownloadRecord,
        attempt: Int,
        _ result: Result<LoadedImageData, WebImageError>,
        metrics: DownloadMetrics
    ) {
        var error: WebImageError?
        if case .failure(let failure) = result { error = failure }
        let (ending, turns) = locked { state -> (Turn?, [Turn]) in
            // The attempt may have no callers any more.
            guard state.has(record), record.pause == nil, record.attempt == attempt else { return (nil, []) }
            state.noteReceived(metrics.receivedByteCount)
            let ending = conclude(record, error, metrics: metrics, &state)
            wake(state.hosts.release(record.id), &state)
            return (ending, takeStarts(&state))
        }
        guard case .over(let remains)? = ending else { return run((ending.map { [$0] } ?? []) + turns) }
        // Network first, then the callers.
        run(turns)
        var loaded = try? result.get()
        loaded?.metrics = record.course.metrics
        remains.complete(with: loaded)
        retireIfDone()
    }

    /// Puts a download aside whose failed attempt is followed by another, or removes one that has ended.
    func conclude(
        _ record: DownloadRecord,
        _ error: WebImageError?,
        metrics: DownloadMetrics,
        _ state: inout DownloaderState
    ) -> Turn? {
        if let error, let seconds = retryDelay(after: error, of: record, state) {
            if state.isObserved { state.emit(.willRetry(record.info, error, after: seconds)) }
            state.counts.retries += 1
            record.trace?.countRetry()
            let events = record.leave(.retried(error, after: seconds))
            record.beginNextAttempt(now: clock.monotonicNanoseconds())
            state.park(record)
            return .wait(record, attempt: record.attempt, seconds: seconds, events)
        }
        return state.remove(record, error: error, metrics: record.completed(metrics)).map { .over($0) }
    }

    /// Returns the number of seconds until the next attempt; nil if there is none.
    private func retryDelay(
        after error: WebImageError,
        of record: DownloadRecord,
        _ state: DownloaderState
    ) -> Double? {
        let policy = record.retryPolicy ?? state.config.value.retryPolicy
        guard policy.maximumRetryCount > 0 else { return nil }
        let wait = policy.wait(
            after: error,
            attempt: record.attempt,
            response: record.course.response,
            method: record.course.request?.method ?? "GET",
            wallTime: clock.wallTime(),
            random: random()
        )
        if let seconds = wait, let deadline = record.deadline(state.config.value.sourcePolicy) {
            // An attempt that would begin after the deadline is not made: the error is delivered at once.
            let now = clock.monotonicNanoseconds()
            guard now < deadline, TransferTimer.nanoseconds(seconds) < deadline - now else { return nil }
        }
        return wait
    }
}
