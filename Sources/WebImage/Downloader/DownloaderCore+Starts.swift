import FoundationEssentials

/// Whose turn it is.
extension DownloaderCore {
    /// What is to be done, outside the lock, for downloads whose turn has come.
    enum Turn {
        case start(DownloaderState.Start)
        /// Another attempt, or the host, is to be waited for.
        case wait(Wait)
        case over(DownloadRecord, [UInt64], WebImageError)
        /// There are more that may start.
        case more
    }

    /// Downloads that are put aside, or fail, while the lock is held once: a host may have thousands, and callers wait for the lock.
    static let mostPutAside = 64

    /// A wait with a timer.
    struct Wait {
        let id: UInt64
        /// The attempt that follows.
        let attempt: Int
        let seconds: Double
        /// Callers who are to be told.
        var listeners: [DownloadSubscriber] = []
    }

    /// Takes everything that may start now, which counts as running then. Downloads whose hosts are left alone do not start: they
    /// are put aside, or have failed.
    func takeStarts(_ state: inout DownloaderState) -> [Turn] {
        var turns: [Turn] = []
        var putAside = 0
        while putAside < Self.mostPutAside, let id = state.coordinator.scheduler.startNext() {
            guard let index = state.records.index(forKey: id) else { continue }
            switch admission(of: index, id, &state) {
            case .proceed:
                state.noteStart(of: index)
                // Nobody else asks what time it is.
                if !state.config.value.sourcePolicy.isTrusted, state.records.values[index].startedAt == nil {
                    state.records.values[index].startedAt = clock.monotonicNanoseconds()
                }
                turns.append(.start(state.send(index, core: self)))
            case .hold(let seconds):
                putAside += 1
                let attempt = state.records.values[index].attempt
                state.records.values[index].pause = DownloadRecord.Pause(
                    since: clock.monotonicNanoseconds(),
                    isForHost: true
                )
                state.coordinator.park(id)
                if let seconds { turns.append(.wait(Wait(id: id, attempt: attempt, seconds: seconds))) }
            case .refuse(let seconds, let wasAsked):
                putAside += 1
                state.noteStart(of: index)
                let url = state.records.values[index].key.url
                let error = Self.hostUnavailable(seconds, wasAsked: wasAsked).with(url: url)
                turns.append(turn(of: conclude(index, .failure(error), metrics: DownloadMetrics(), &state), error))
            }
        }
        if putAside == Self.mostPutAside { turns.append(.more) }
        if state.line.isBusy != (state.coordinator.scheduler.runningCount > 0) {
            state.line.setBusy(!state.line.isBusy, at: clock.monotonicNanoseconds())
        }
        return turns
    }

    private func turn(of ending: Ending, _ error: WebImageError) -> Turn {
        switch ending {
        case .again(let wait): .wait(wait)
        case .over(let record, let tokens): .over(record, tokens, error)
        }
    }

    func run(_ turns: [Turn]) {
        for turn in turns {
            switch turn {
            case .start(let start):
                for listener in start.listeners { listener.deliverEvents() }
                start.transfer.begin(
                    transport,
                    config: start.config,
                    headers: start.headers,
                    defaults: start.hooks,
                    partials: start.partials,
                    deadline: start.deadline
                )
            case .wait(let wait):
                pause(wait)
            case .more:
                CodingQueue.shared.submit { [self] in run(locked { takeStarts(&$0) }) }
            case .over(let record, let tokens, let error):
                // The end of one download starts the next: in here, each would fail within the one before it.
                CodingQueue.shared.submit { [self] in
                    record.finish(tokens, .failure(error), metrics: DownloadMetrics())
                    retireIfDone()
                }
            }
        }
    }

    // MARK: Waiting

    /// Sets the timer of a download that has been put aside, and tells those who want to know.
    func pause(_ wait: Wait) {
        for listener in wait.listeners { listener.deliverEvents() }
        let (id, attempt) = (wait.id, wait.attempt)
        let cancel = delays.after(TransferTimer.nanoseconds(wait.seconds)) { [self] in wake(id, attempt: attempt) }
        let isWanted = state.withLock { state -> Bool in
            guard let index = state.records.index(forKey: id), state.records.values[index].pause != nil,
                state.records.values[index].attempt == attempt
            else { return false }
            state.records.values[index].pause?.cancel = cancel
            return true
        }
        // All callers left before there was a timer to stop.
        if !isWanted { cancel() }
    }

    private func wake(_ id: UInt64, attempt: Int) {
        let (turns, pause) = locked { state -> ([Turn], DownloadRecord.Pause?) in
            guard let index = state.records.index(forKey: id), state.records.values[index].attempt == attempt
            else { return ([], nil) }
            let pause = state.endPause(of: index, at: clock.monotonicNanoseconds())
            return (takeStarts(&state), pause)
        }
        withExtendedLifetime(pause) {}
        run(turns)
    }
}

extension DownloaderState {
    /// Lets a download that was put aside wait for its turn again. What it waited with, to be let go of without the lock.
    mutating func endPause(of index: Dictionary<UInt64, DownloadRecord>.Index, at now: UInt64) -> DownloadRecord.Pause?
    {
        guard let pause = records.values[index].pause else { return nil }
        if !pause.isForHost, now > pause.since { records.values[index].paused += now - pause.since }
        records.values[index].pause = nil
        coordinator.wake(records.keys[index])
        return pause
    }

    /// Counts a download as started, if it is its first attempt, and tells observers.
    mutating func noteStart(of index: Dictionary<UInt64, DownloadRecord>.Index) {
        guard !records.values[index].hasStarted else { return }
        records.values[index].hasStarted = true
        counts.started += 1
        if isObserved { emit(.started(records.values[index].info)) }
    }

    /// What the download's present attempt starts with; it counts as sent.
    mutating func send(_ index: Dictionary<UInt64, DownloadRecord>.Index, core: DownloaderCore) -> Start {
        Start(
            transfer: records.values[index].send(core: core),
            config: config,
            headers: headers,
            hooks: hooks,
            partials: partials,
            deadline: records.values[index].deadline(config.value.sourcePolicy),
            listeners: records.values[index].tell { .requestSent(attempt: $0.attempt) }
        )
    }
}
