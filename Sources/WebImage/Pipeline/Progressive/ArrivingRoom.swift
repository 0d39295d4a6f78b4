/// Memory that is reserved for a picture that is arriving, and given up when somebody needs it whose picture is there.
final class ArrivingRoom: Sendable {
    let reservation: MemoryReservation
    private let budget: DecodedMemoryBudget
    private let reclaim: UInt64

    /// - Parameter body: called when somebody needs the memory; is to let go of this object.
    init(_ reservation: MemoryReservation, of budget: DecodedMemoryBudget, body: @escaping @Sendable () -> Void) {
        self.reservation = reservation
        self.budget = budget
        reclaim = budget.addReclaim(body)
    }

    deinit { budget.removeReclaim(reclaim) }
}
