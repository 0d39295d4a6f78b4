extension DecodedMemoryBudget {
    /// The answer to a request.
    enum Answer: Sendable {
        case admitted(MemoryReservation)
        /// Only a decode of at most that many bytes can be admitted.
        case smaller(within: Int)
        case refused(WebImageError)
    }

    /// The immediate outcome of a request.
    enum Outcome: Sendable {
        case answered(Answer)
        /// The answer follows later; the number is for ``cancel(_:)`` and ``setPriority(_:of:)``.
        case waiting(UInt64)
    }

    /// Work to do outside the lock.
    enum Step {
        case answer(@Sendable (Answer) -> Void, Answer)
        case evict(Int, for: UInt64)
        case startTimer(UInt64, nanoseconds: UInt64)
    }

    /// A waiting request.
    struct Waiting {
        var need: Int
        var patience: WaitAllowance
        var body: @Sendable (Answer) -> Void
    }

    /// Requests a reservation.
    ///
    /// - Parameters:
    ///   - domain: the source policy of the load; empty for the program's own loads.
    ///   - isBegun: whether it continues with pixels that it holds, so that it goes first.
    ///   - waits: false to be answered before this returns.
    ///   - evicts: false to be admitted only if there is room already that no request waits for; for requests that do not wait.
    ///   - patience: that of the load, which may make several requests.
    ///   - body: called once with an answer that does not arrive at once, unless the request is cancelled first; possibly before
    ///     this returns. Must neither block nor decode.
    func request(
        _ need: Int,
        priority: LoadPriority,
        domain: String = "",
        mayShrink: Bool,
        isBegun: Bool = false,
        waits: Bool = true,
        evicts: Bool = true,
        patience: WaitAllowance = WaitAllowance(),
        then body: @escaping @Sendable (Answer) -> Void
    ) -> Outcome {
        // An answer that arrives while this is still asking is returned.
        let first = Lock<(isAsking: Bool, answer: Answer?)>((true, nil))
        let receive: @Sendable (Answer) -> Void = { answer in
            let isLeft = first.withLock { first in
                if first.isAsking { first.answer = answer }
                return first.isAsking
            }
            if !isLeft { body(answer) }
        }
        // Custom coders estimate the need: sums of it must not overflow.
        let need = min(max(need, 0), Self.mostNeed)
        let (id, steps) = state.withLock { state -> (UInt64, [Step]) in
            let (id, actions) = state.admission.ask(
                need,
                priority: priority,
                domain: domain,
                mayShrink: mayShrink,
                isBegun: isBegun,
                waits: waits,
                evicts: evicts
            )
            state.waiting[id] = Waiting(need: need, patience: patience, body: receive)
            return (id, resolve(actions, &state))
        }
        perform(steps)
        let answer = first.withLock { first in
            first.isAsking = false
            return first.answer.take()
        }
        return answer.map(Outcome.answered) ?? .waiting(id)
    }

    /// A number above any limit, and small enough to be added up.
    private static let mostNeed = 1 << 50

    /// Cancels a request; does nothing if it was answered.
    func cancel(_ id: UInt64) {
        let (former, steps) = state.withLock { state in
            (state.waiting.removeValue(forKey: id), resolve(state.admission.cancel(id), &state))
        }
        withExtendedLifetime(former) {}
        performElsewhere(steps)
    }

    /// Changes the priority of a request; calls no closures.
    func setPriority(_ priority: LoadPriority, of id: UInt64) {
        state.withLock { $0.admission.setPriority(priority, of: id) }
    }

    // MARK: Pixels

    /// Counts the pixels of an image as long as they live, unless they are already counted. Does nothing while the budget is off.
    package func hold(_ image: Image) {
        guard isOn else { return }
        hold(image.storages) { admission, bytes in admission.hold(bytes) }
    }

    /// Counts bytes without a reservation, as long as the returned object lives.
    func charge(_ byteCount: Int) -> MemoryCharge {
        perform(change { $0.hold(byteCount) })
        return MemoryCharge(byteCount, to: self)
    }

    /// Reports that a decode has made an image.
    ///
    /// - Returns: the number of bytes that stay reserved, at most those that are wanted.
    func made(_ image: Image, of reserved: Int, keeping wanted: Int, again: Bool) -> Int {
        var kept = 0
        hold(image.storages) { admission, bytes in
            kept = max(min(wanted, reserved - bytes), 0)
            return again
                ? admission.keep(kept, of: reserved, holding: bytes)
                : admission.made(reserved, keeping: kept, holding: bytes)
        }
        return kept
    }

    /// Moves some of the reserved bytes into a charge that outlives the decode.
    func charge(_ byteCount: Int, of reserved: Int) -> MemoryCharge {
        perform(change { $0.keep(reserved - byteCount, of: reserved, holding: byteCount) })
        return MemoryCharge(byteCount, to: self)
    }

    func goOn() { state.withLock { $0.admission.goOn() } }

    func end(_ reserved: Int, isDelivered: Bool) { perform(change { $0.end(reserved, isDelivered: isDelivered) }) }

    private func hold(
        _ storages: [PixelStorage],
        _ tell: (inout MemoryAdmission, Int) -> [MemoryAdmission.Action]
    ) {
        let new = storages.filter { !$0.isCharged }.map { ($0, $0.blockByteCount) }
        let steps = change { tell(&$0, new.reduce(0) { $0 + $1.1 }) }
        // If another thread was quicker, the storage refuses the charge, which releases its bytes at once.
        for (storage, bytes) in new { storage.attach(MemoryCharge(bytes, to: self)) }
        perform(steps)
    }

    /// Reports that pixels were freed, on any thread, which may hold any lock.
    func release(_ byteCount: Int) { performElsewhere(change { $0.release(byteCount) }) }

    /// Reports that a reservation was dropped.
    func giveUp(_ byteCount: Int, isDelivered: Bool) {
        performElsewhere(change { $0.end(byteCount, isDelivered: isDelivered) })
    }

    // MARK: Driving

    func change(
        _ body: (inout MemoryAdmission) -> [MemoryAdmission.Action],
        also: () -> Void = {}
    ) -> [Step] {
        state.withLock { state in
            also()
            return resolve(body(&state.admission), &state)
        }
    }

    private func resolve(_ actions: [MemoryAdmission.Action], _ state: inout State) -> [Step] {
        actions.compactMap { action -> Step? in
            switch action {
            case .evict(let bytes, let id): return .evict(bytes, for: id)
            case .startTimer(let id):
                let left = state.waiting[id]?.patience.left(of: state.admission.currentPatience, by: clock)
                return .startTimer(id, nanoseconds: left ?? 0)
            case .decide(let id, let verdict):
                guard let waiting = state.waiting.removeValue(forKey: id) else { return nil }
                return .answer(waiting.body, answer(verdict, to: waiting))
            }
        }
    }

    private func answer(_ verdict: MemoryAdmission.Verdict, to waiting: Waiting) -> Answer {
        switch verdict {
        case .admitted: .admitted(MemoryReservation(waiting.need, of: self, patience: waiting.patience))
        case .smaller(let room): .smaller(within: room)
        case .refused(let room): .refused(.memoryBudgetExceeded(allowed: room, required: waiting.need))
        }
    }

    func perform(_ steps: [Step]) {
        var steps = steps
        while !steps.isEmpty {
            var more: [Step] = []
            for step in steps {
                switch step {
                case .answer(let body, let answer): body(answer)
                case .evict(let bytes, let id):
                    evict(bytes)
                    more += change { $0.evicted(for: id) }
                case .startTimer(let id, 0): more += change { $0.timeIsOver(for: id) }
                case .startTimer(let id, let nanoseconds):
                    _ = delays.after(nanoseconds) { [weak self] in
                        guard let self else { return }
                        perform(change { $0.timeIsOver(for: id) })
                    }
                }
            }
            steps = more
        }
    }

    /// Performs the steps later, for callers that must neither call user code nor wait for locks.
    private func performElsewhere(_ steps: [Step]) {
        guard !steps.isEmpty else { return }
        queue.submit(priority: .high) { [self] in perform(steps) }
    }
}

extension WebImageError {
    /// The name of the limit in errors.
    static let memoryBudgetLimit = "memoryBudget"

    /// Returns the error for an image that does not fit into a ``DecodedMemoryBudget``.
    static func memoryBudgetExceeded(allowed: Int, required: Int) -> WebImageError {
        .limitExceeded(memoryBudgetLimit, allowed: allowed, required: required)
    }

    /// Indicates whether the error depends on the memory in use and not on the image.
    package var isOfMemoryBudget: Bool { limit?.name == Self.memoryBudgetLimit }
}
