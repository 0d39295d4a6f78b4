import CLinux

/// Bytes of a budget that a job has until it ends, or until this object goes.
package final class MemoryReservation: Sendable {
    /// What is left of its load's patience.
    let patience: MemoryPatience
    private let budget: DecodedMemoryBudget
    /// Nil when the job is over.
    private let state: Lock<State?>

    private struct State {
        var byteCount: Int
        /// The pixels that the job has made.
        var made: ObjectIdentifier?
        /// Another job has what is left.
        var isHandedOver = false
    }

    init(_ byteCount: Int, of budget: DecodedMemoryBudget, patience: MemoryPatience) {
        state = Lock(State(byteCount: byteCount))
        self.budget = budget
        self.patience = patience
    }

    deinit {
        if let state = state.withLock({ $0 }) { budget.giveUp(state.byteCount, isDelivered: state.made != nil) }
    }

    /// Bytes that are reserved.
    var byteCount: Int { state.withLock { $0?.byteCount ?? 0 } }

    /// The pixels are there, and count from now on in place of what was reserved for them. The job is not over before ``end()``: until
    /// then others wait for it rather than be told that there is no room. To be called by the job's thread only.
    ///
    /// - Parameter kept: bytes that stay reserved for what is made of the image, at most.
    func hold(_ image: Image, keeping kept: Int = 0) {
        guard let former = state.withLock({ $0 }) else { return budget.hold(image) }
        let rest = budget.made(image, of: former.byteCount, keeping: kept, again: former.made != nil)
        state.withLock { state in
            state?.byteCount = rest
            state?.made = ObjectIdentifier(image.bitmap.storage)
        }
    }

    /// So many bytes of it are taken for longer than the job. To be called by the job's thread only.
    package func charge(_ count: Int) -> MemoryCharge? {
        guard let former = state.withLock({ $0 }), count <= former.byteCount else { return nil }
        state.withLock { $0?.byteCount -= count }
        return budget.charge(count, of: former.byteCount)
    }

    /// The job is over: what it made was stored and handed over, or let go of.
    package func end() {
        let last = state.withLock { $0.take() }
        if let last { budget.end(last.byteCount, isDelivered: last.made != nil) }
    }

    /// Both at once, where nothing is stored.
    package func end(holding image: Image) {
        hold(image)
        end()
    }

    /// What is still reserved, for another job; nil if that is less than is needed, or somebody else has it. This one has to end all the
    /// same: its thread may still hold the image when the other is over.
    ///
    /// - Parameter image: the image that both are about; nil for any.
    func handOver(atLeast needed: Int = 0, of image: Image? = nil) -> MemoryReservation? {
        let count = state.withLock { state -> Int? in
            guard let there = state, there.byteCount >= needed, !there.isHandedOver else { return nil }
            if let image, there.made != ObjectIdentifier(image.bitmap.storage) { return nil }
            budget.goOn()
            state?.byteCount = 0
            state?.isHandedOver = true
            return there.byteCount
        }
        return count.map { MemoryReservation($0, of: budget, patience: patience) }
    }
}

extension MemoryReservation {
    /// That of the job which the calling thread does, if it is of a budget.
    static func current(of budget: DecodedMemoryBudget? = nil) -> MemoryReservation? {
        guard let pointer = webimage_reservation() else { return nil }
        let current = Unmanaged<MemoryReservation>.fromOpaque(pointer).takeUnretainedValue()
        return budget == nil || current.budget === budget ? current : nil
    }

    /// Does a job, and ends then.
    func perform<Value, Failure: Error>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
        let outer = webimage_reservation()
        webimage_set_reservation(Unmanaged.passUnretained(self).toOpaque())
        defer {
            webimage_set_reservation(outer)
            end()
        }
        return try body()
    }

    /// Checks what a worker made against what it said beforehand that it takes, by which it was admitted.
    ///
    /// - Throws: ``WebImageError/Code/decoderCrashed`` for what is bigger.
    func check(_ image: Image) throws(WebImageError) {
        let (needed, told) = (image.storages.reduce(0) { $0 + $1.byteCount }, byteCount)
        guard needed <= told else {
            let problem = "the decoder answered nonsense: its picture takes \(needed) bytes, not \(told)"
            throw WebImageError(.decoderCrashed, problem)
        }
    }
}

/// How long a load waits for pixels that others hold: its requests, of which there may be several, all together.
package final class MemoryPatience: Sendable {
    /// When it began to wait.
    private let start = Lock<UInt64?>(nil)

    /// Nanoseconds that are left of so many, which run from the first time that this is called.
    func left(of whole: UInt64, by clock: ClockSource) -> UInt64 {
        let now = clock.monotonicNanoseconds()
        let start = start.withLock { begun in
            if begun == nil { begun = now }
            return begun ?? now
        }
        let passed = now > start ? now - start : 0
        return whole > passed ? whole - passed : 0
    }
}

/// Memory that is reserved for a picture that is arriving, and given up when somebody needs it whose picture is there.
package final class ArrivingRoom: Sendable {
    private let reservation: MemoryReservation
    private let budget: DecodedMemoryBudget
    private let reclaim: UInt64

    /// - Parameter body: called when somebody needs the memory; is to let go of this object.
    fileprivate init(
        _ reservation: MemoryReservation,
        of budget: DecodedMemoryBudget,
        body: @escaping @Sendable () -> Void
    ) {
        self.reservation = reservation
        self.budget = budget
        reclaim = budget.addReclaim(body)
    }

    deinit { budget.removeReclaim(reclaim) }

    /// The picture is there: goes on with it and with what is still reserved.
    package func goOn(with image: Image, _ body: () -> Void) {
        // How much of the rest is needed is known to whoever goes on.
        reservation.hold(image, keeping: .max)
        reservation.perform(body)
    }
}

extension DecodedMemoryBudget {
    /// Memory for a picture that is arriving, if there is some that nobody waits for.
    ///
    /// - Parameter reclaim: called when somebody needs it; is to let go of what is returned.
    package func roomOfWhatIsLeft(_ need: Int, reclaim: @escaping @Sendable () -> Void) -> ArrivingRoom? {
        guard case .admitted(let reservation) = now(need, mayShrink: false, evicts: false) else { return nil }
        return ArrivingRoom(reservation, of: self, body: reclaim)
    }
}

/// Bytes of pixels that live, counted against a budget as long as this object does.
package final class MemoryCharge: Sendable {
    private let byteCount: Int
    private let budget: DecodedMemoryBudget

    init(_ byteCount: Int, to budget: DecodedMemoryBudget) {
        self.byteCount = byteCount
        self.budget = budget
    }

    deinit { budget.release(byteCount) }
}

extension Image {
    /// The memory of its pixels, and of its frames that are in memory; each once.
    var storages: [PixelStorage] {
        guard let frames = animation?.loadedFrames, !frames.isEmpty else { return [bitmap.storage] }
        var seen: Set<ObjectIdentifier> = []
        return ([bitmap.storage] + frames.map(\.bitmap.storage)).filter { seen.insert(ObjectIdentifier($0)).inserted }
    }
}
