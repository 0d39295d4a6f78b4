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
    /// Whether a thread is just asking, to which an answer is left.
    private var isAsking = false

    /// A frame is needed. After `ask`, ``asked(_:)`` has to follow.
    mutating func begin() -> Step {
        if let answer = answer.take() { return .take(answer) }
        guard !isWaiting else { return .wait(request) }
        (isWaiting, isAsking) = (true, true)
        return .ask
    }

    /// The budget was asked; an answer that has come meanwhile is to be taken.
    mutating func asked(_ id: UInt64) -> Answer? {
        isAsking = false
        if isWaiting { request = id }
        return answer.take()
    }

    /// The budget has answered.
    ///
    /// - Returns: whether somebody has to come for the answer.
    mutating func answered(_ answer: Answer) -> Bool {
        (request, isWaiting) = (nil, false)
        self.answer = answer
        return !isAsking
    }

    /// No frame is needed any more.
    ///
    /// - Returns: what is to be taken back, and what is to be let go of outside of locks.
    mutating func giveUp() -> (request: UInt64?, answer: Answer?) {
        // Whoever is asking looks then whether a frame is needed.
        guard !isAsking else { return (nil, nil) }
        isWaiting = false
        return (request.take(), answer.take())
    }
}
