import FoundationEssentials

/// Whose turn it is.
extension DownloaderCore {
    /// What is to be done, outside the lock, for downloads whose turn has come.
    enum Turn {
        /// An attempt begins, once those have been told who want to know.
        case start(DownloadTransfer, CallbackMailbox?)
        /// Another attempt, or the host, is to be waited for with a timer, once those have been told. With the attempt that follows.
        case wait(DownloadRecord, attempt: Int, seconds: Double, CallbackMailbox?)
        case over(DownloadRecord.Remains)
        /// There are more that may start.
        case more
    }

    /// Downloads that are put aside, or fail, while the lock is held once: a host may have thousands, and callers wait for the lock.
    static let mostPutAside = 64

    /// Takes everything that may start now, which counts as running then. Downloads whose hosts are left alone do not start: they
    /// are put aside, or have failed.
    func takeStarts(_ state: inout DownloaderState) -> [Turn] {
        var turns: [Turn] = []
        var putAside = 0
        while putAside < Self.mostPutAside, let record = state.startNext() {
            switch admission(of: record, &state) {
            case .proceed:
                state.noteStart(of: record)
                // Nobody else asks what time it is.
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
                // The end of one download starts the next: in here, each would fail within the one before it.
                CodingQueue.shared.submit { [self] in
                    remains.complete()
                    retireIfDone()
                }
            }
        }
    }

    // MARK: Waiting

    /// Sets the timer of a download that has been put aside.
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
        // It was cancelled before there was a timer to stop.
        if !isWanted { cancel() }
    }
}

extension DownloaderState {
    /// Lets a download that was put aside wait for its turn again.
    mutating func endPause(of record: DownloadRecord, at now: UInt64) {
        guard let pause = record.pause else { return }
        if !pause.isForHost, now > pause.since { record.course.paused += now - pause.since }
        record.pause = nil
        endedPauses.append(pause)
        // With the priority that it has by now.
        if case .parked = record.place {
            leavePlace(record)
            enqueue(record)
        }
    }

    /// Counts a download as started, if it is its first attempt, and tells observers.
    mutating func noteStart(of record: DownloadRecord) {
        guard !record.hasStarted else { return }
        record.hasStarted = true
        counts.started += 1
        if isObserved { emit(.started(record.info)) }
    }

    /// Begins the download's present attempt, which counts as sent.
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
