import FoundationEssentials

/// Admission control: starts queued downloads.
extension DownloaderCore {
    /// Work to do outside the lock for downloads that were next in the queue.
    enum Turn {
        /// Begin an attempt, after its subscribers were notified.
        case start(DownloadTransfer, CallbackMailbox?)
        /// Set a timer for the next attempt, or for the host's back-off, after the subscribers were notified. Includes the number
        /// of the attempt that follows.
        case wait(DownloadRecord, attempt: Int, seconds: Double, CallbackMailbox?)
        case over(DownloadRecord.Remains)
        /// Continue: more downloads may start.
        case more
    }

    /// The maximum number of downloads that are put aside, or fail, while the lock is held once: a host may have thousands, and
    /// callers wait for the lock.
    static let mostPutAside = 64

    /// Takes all downloads that may start now; they count as running from then on. Downloads from hosts in back-off do not start:
    /// they are put aside or fail.
    func takeStarts(_ state: inout DownloaderState) -> [Turn] {
        var turns: [Turn] = []
        var putAside = 0
        while putAside < Self.mostPutAside, let record = state.startNext() {
            switch admission(of: record, &state) {
            case .proceed:
                state.noteStart(of: record)
                // Only an untrusted source has a time limit, so only then is the clock read.
                if !state.config.isTrusted, record.course.startedAt == nil {
                    record.course.startedAt = clock.monotonicNanoseconds()
                }
                turns.append(state.send(record))
            case .hold(let seconds):
                putAside += 1
                record.pause = DownloadRecord.Pause(since: clock.monotonicNanoseconds(), isForHost: true)
                state.park(record)
                if let seconds { turns.append(.wait(record, attempt: record.attempt, seconds: seconds, nil)) }
            case .refuse(let seconds, let wasAsked):
                putAside += 1
                state.noteStart(of: record)
                let error = Self.hostUnavailable(seconds, wasAsked: wasAsked).with(url: record.url)
                if let turn = conclude(record, error, metrics: DownloadMetrics(), &state) { turns.append(turn) }
            }
        }
        if putAside == Self.mostPutAside { turns.append(.more) }
        if state.line.isBusy != (state.runningCount > 0) {
            state.line.setBusy(!state.line.isBusy, at: clock.monotonicNanoseconds())
        }
        return turns
    }

    func run(_ turns: [Turn]) {
        for turn in turns {
            switch turn {
            case .start(let transfer, let events):
                events?.deliver()
                transfer.begin()
            case .wait(let record, let attempt, let seconds, let events):
                events?.deliver()
                pause(record, attempt: attempt, seconds: seconds)
            case .more:
                CodingQueue.shared.submit { [self] in update { _ in } }
            case .over(let remains):
                // The end of one download starts the next: synchronously, each failure would nest within the one before.
                CodingQueue.shared.submit { [self] in
                    remains.complete()
                    retireIfDone()
                }
            }
        }
    }

    // MARK: Waiting

    /// Sets the timer of a download that was put aside.
    private func pause(_ record: DownloadRecord, attempt: Int, seconds: Double) {
        let cancel = delays.after(TransferTimer.nanoseconds(seconds)) { [self] in
            update { state in
                guard state.has(record), record.attempt == attempt else { return }
                state.endPause(of: record, at: clock.monotonicNanoseconds())
            }
        }
        let isWanted = state.withLock { state -> Bool in
            guard state.has(record), record.pause != nil, record.attempt == attempt else { return false }
            record.pause?.cancel = cancel
            return true
        }
        // The download was cancelled before the timer was set.
        if !isWanted { cancel() }
    }
}

extension DownloaderState {
    /// Puts a download that was put aside back into the queue.
    mutating func endPause(of record: DownloadRecord, at now: UInt64) {
        guard let pause = record.pause else { return }
        if !pause.isForHost, now > pause.since { record.course.paused += now - pause.since }
        record.pause = nil
        endedPauses.append(pause)
        // Queued with its current priority.
        if case .parked = record.place {
            leavePlace(record)
            enqueue(record)
        }
    }

    /// Counts a download as started on its first attempt, and notifies observers.
    mutating func noteStart(of record: DownloadRecord) {
        guard !record.hasStarted else { return }
        record.hasStarted = true
        counts.started += 1
        if isObserved { emit(.started(record.info)) }
    }

    /// Begins the download's current attempt, which counts as sent.
    mutating func send(_ record: DownloadRecord) -> DownloaderCore.Turn {
        let plan = DownloadTransfer.Plan(
            config: config,
            headers: headers,
            rights: ownRights,
            hooks: record.hooks.filled(from: hooks),
            partials: partials,
            deadline: config.isTrusted ? nil : record.deadline(config.value.sourcePolicy)
        )
        return .start(record.send(plan), record.leave(.requestSent(attempt: record.attempt)))
    }
}
