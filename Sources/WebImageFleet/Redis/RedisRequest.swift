/// The reason why a command has no reply.
enum RedisFailure: Error, Sendable, Hashable {
    /// The circuit of the node is open, a reply to an older command is overdue, or the client has been closed. If the circuit opened after
    /// the command was sent, it may take effect.
    case unavailable
    /// No reply arrived until the deadline. The command may still take effect.
    case late
    /// The connection could not be made, or broke off. The command may have taken effect.
    case connection
    /// The connection is not safe: the certificate of the server was refused, or TLS failed.
    case untrusted(TLSFailure)
    /// The server replied with an error.
    case refused(RedisRefusal)
}

/// A command with its deadline and its completion. Used only on the thread of the client's loop, once it is there.
final class RedisRequest: @unchecked Sendable {
    typealias Completion = @Sendable (Result<RESPValue, RedisFailure>) -> Void

    let command: RedisCommand
    /// The slot of the command's key.
    let slot: Int
    /// The time at which the completion is called at the latest, on the monotonic clock.
    let deadline: UInt64
    /// The number of times that the command was given to a node.
    var attempts = 0
    /// Its admission by the node that has it.
    var admission = NodeHealth.Admission.refused
    private var completion: Completion?

    init(_ command: RedisCommand, slot: Int, deadline: UInt64, completion: @escaping Completion) {
        self.command = command
        self.slot = slot
        self.deadline = deadline
        self.completion = completion
    }

    /// Indicates whether the completion has not been called.
    var isWanted: Bool { completion != nil }

    /// Calls the completion, once.
    func finish(_ result: Result<RESPValue, RedisFailure>) {
        guard let completion else { return }
        self.completion = nil
        completion(result)
    }
}
