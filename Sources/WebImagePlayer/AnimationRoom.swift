/// What an animation asks of a budget for its next frame: once at a time, and nothing that was answered is lost. Pure.
struct AnimationRoom {
    typealias Answer = DecodedMemoryBudget.Answer

    /// What to do for the next frame.
    enum Step {
        case take(Answer)
        /// It has been asked for already; that is to become as urgent as the frame is now.
        case wait(UInt64?)
        case ask
    }

    private var request: UInt64?
    private var answer: Answer?
    private var isWaiting = false

    /// A frame is needed.
    mutating func begin() -> Step {
        if let answer = answer.take() { return .take(answer) }
        guard !isWaiting else { return .wait(request) }
        isWaiting = true
        return .ask
    }

    /// The answer will come.
    ///
    /// - Returns: whether it is still wanted; else the request is to be taken back.
    mutating func waits(for id: UInt64) -> Bool {
        if isWaiting { request = id }
        return isWaiting || answer != nil
    }

    /// The budget has answered, and that is kept if it is not taken at once.
    mutating func answered(_ answer: Answer?) {
        (request, isWaiting) = (nil, false)
        self.answer = answer
    }

    /// No frame is needed any more.
    ///
    /// - Returns: what is to be taken back, and what is to be let go of outside of locks.
    mutating func giveUp() -> (request: UInt64?, answer: Answer?) {
        isWaiting = false
        return (request.take(), answer.take())
    }
}
