/// The memory request of an animation for its next frame: one at a time, and no answer is lost. Pure logic.
struct FrameReservation {
    typealias Answer = DecodedMemoryBudget.Answer

    /// The next step to reserve memory for a frame.
    enum Step {
        case take(Answer)
        /// Already requested; the request takes on the frame's current priority.
        case wait(UInt64?)
        case ask
    }

    private var request: UInt64?
    private var answer: Answer?
    private var isWaiting = false

    /// Begins a reservation for a frame.
    mutating func begin() -> Step {
        if let answer = answer.take() { return .take(answer) }
        guard !isWaiting else { return .wait(request) }
        isWaiting = true
        return .ask
    }

    /// Records the identifier of a request that is answered later.
    ///
    /// - Returns: True if the request is still wanted; otherwise the caller cancels it.
    mutating func waits(for id: UInt64) -> Bool {
        if isWaiting { request = id }
        return isWaiting || answer != nil
    }

    /// Stores the budget's answer until it is taken.
    mutating func answered(_ answer: Answer?) {
        (request, isWaiting) = (nil, false)
        self.answer = answer
    }

    /// Ends the request: no frame is needed any more.
    ///
    /// - Returns: The request to cancel, and the answer to release outside of locks.
    mutating func giveUp() -> (request: UInt64?, answer: Answer?) {
        isWaiting = false
        return (request.take(), answer.take())
    }
}
