import CLinux

/// Bytes of a budget that are reserved for a job until it ends, or until this object is released.
final class MemoryReservation: Sendable {
    /// The remaining waiting time of the load.
    let patience: WaitAllowance
    private let budget: DecodedMemoryBudget
    /// Nil after the job has ended.
    private let state: Lock<State?>

    private struct State {
        var byteCount: Int
        /// The pixels that the job has made.
        var made: ObjectIdentifier?
        /// Indicates whether the rest was handed over to another job.
        var isHandedOver = false
    }

    init(_ byteCount: Int, of budget: DecodedMemoryBudget, patience: WaitAllowance) {
        state = Lock(State(byteCount: byteCount))
        self.budget = budget
        self.patience = patience
    }

    deinit {
        if let state = state.withLock({ $0 }) { budget.giveUp(state.byteCount, isDelivered: state.made != nil) }
    }

    /// The number of reserved bytes.
    var byteCount: Int { state.withLock { $0?.byteCount ?? 0 } }

    /// Reports the pixels, which count from now on in place of the reservation. The job is not over before ``end()``: until then
    /// other requests wait for it instead of being refused. Called only by the job's thread.
    ///
    /// - Parameter kept: the maximum number of bytes that stay reserved for what is made from the image.
    func hold(_ image: Image, keeping kept: Int = 0) {
        guard let former = state.withLock({ $0 }) else { return budget.hold(image) }
        let rest = budget.made(image, of: former.byteCount, keeping: kept, again: former.made != nil)
        state.withLock { state in
            state?.byteCount = rest
            state?.made = ObjectIdentifier(image.bitmap.storage)
        }
    }

    /// Moves that many reserved bytes into a charge that outlives the job. Called only by the job's thread.
    func charge(_ count: Int) -> MemoryCharge? {
        guard let former = state.withLock({ $0 }), count <= former.byteCount else { return nil }
        state.withLock { $0?.byteCount -= count }
        return budget.charge(count, of: former.byteCount)
    }

    /// Ends the job: its result was stored and handed over, or released.
    func end() {
        let last = state.withLock { $0.take() }
        if let last { budget.end(last.byteCount, isDelivered: last.made != nil) }
    }

    /// Hands the rest of the reservation over to another job; nil if it is less than needed, or was already handed over. This job
    /// has to end all the same: its thread may still hold the image when the other is over.
    ///
    /// - Parameter image: the image that both jobs work on; nil for any.
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
    /// Returns the reservation of the calling thread's job, if it belongs to the budget.
    static func current(of budget: DecodedMemoryBudget? = nil) -> MemoryReservation? {
        guard let pointer = webimage_reservation() else { return nil }
        let current = Unmanaged<MemoryReservation>.fromOpaque(pointer).takeUnretainedValue()
        return budget == nil || current.budget === budget ? current : nil
    }

    /// Runs a job, and ends the reservation afterwards.
    func perform<Value, Failure: Error>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
        let outer = webimage_reservation()
        webimage_set_reservation(Unmanaged.passUnretained(self).toOpaque())
        defer {
            webimage_set_reservation(outer)
            end()
        }
        return try body()
    }
}

/// The waiting time that all requests of a load may use together for pixels that others hold.
final class WaitAllowance: Sendable {
    /// The time of the first wait.
    private let start = Lock<UInt64?>(nil)

    /// Returns the rest of that many nanoseconds, which run from the first call.
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

/// A reservation for an image that is downloading, released when a decode of a complete image needs it.
package final class ProvisionalReservation: Sendable {
    private let reservation: MemoryReservation
    private let budget: DecodedMemoryBudget
    private let reclaim: UInt64

    /// - Parameter body: called when another request needs the memory; must release this object.
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

    /// Continues with the complete image and the rest of the reservation.
    package func goOn(with image: Image, _ body: () -> Void) {
        // The code that continues knows how much of the rest it needs.
        reservation.hold(image, keeping: .max)
        reservation.perform(body)
    }
}

extension DecodedMemoryBudget {
    /// Reserves memory for an image that is downloading, if there is room that no request waits for.
    ///
    /// - Parameter reclaim: called when another request needs the memory; must release the returned object.
    package func roomOfWhatIsLeft(_ need: Int, reclaim: @escaping @Sendable () -> Void) -> ProvisionalReservation? {
        guard case .admitted(let reservation) = now(need, mayShrink: false, evicts: false) else { return nil }
        return ProvisionalReservation(reservation, of: self, body: reclaim)
    }
}

/// Live pixels, counted against a budget as long as this object lives.
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
    /// Checks a worker's result against its estimate, by which the calling thread's job was admitted.
    ///
    /// - Throws: ``WebImageError/Code/decoderCrashed`` for a bigger one.
    func checkAdmittedByteCount() throws(WebImageError) {
        guard let told = MemoryReservation.current()?.byteCount else { return }
        let needed = storages.reduce(0) { $0 + $1.byteCount }
        guard needed <= told else {
            let problem = "invalid reply from the decoder: its image takes \(needed) bytes, not \(told)"
            throw WebImageError(.decoderCrashed, problem)
        }
    }

    /// The storages of its pixels, and of its frames that are in memory; each once.
    var storages: [PixelStorage] {
        guard let frames = animation?.loadedFrames, !frames.isEmpty else { return [bitmap.storage] }
        var seen: Set<ObjectIdentifier> = []
        return ([bitmap.storage] + frames.map(\.bitmap.storage)).filter { seen.insert(ObjectIdentifier($0)).inserted }
    }
}
