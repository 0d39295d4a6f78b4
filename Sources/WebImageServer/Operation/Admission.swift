/// Decides which requests for images that are not cached may wait. Hits are not affected.
///
/// A value without threads or clock. The wait is estimated from the jobs in front and from the pace of their queue: whoever would get the image
/// too late is refused at once, instead of making others late, too.
struct Admission: Sendable {
    /// The decision about a request.
    enum Decision: Sendable, Hashable {
        case admitted
        /// The client already has as many as it may: status 429.
        case clientIsFull(retryAfter: Int)
        /// The server has as many as it may, or would be too late: status 503.
        case serverIsFull(retryAfter: Int)
    }

    /// The maximum number of requests that wait.
    var maximumCount: Int
    /// The maximum number of requests of one client that wait.
    var maximumCountPerClient: Int
    /// The seconds within which an image must be made.
    var timeout: Double
    /// The number of jobs that may always wait, whatever their estimate says.
    var freeJobCount: Int

    /// The number of requests that wait.
    private(set) var count = 0
    private var clients: [String: Int] = [:]
    private var pace = QueuePace()

    init(maximumCount: Int, maximumCountPerClient: Int, timeout: Double, freeJobCount: Int) {
        self.maximumCount = maximumCount
        self.maximumCountPerClient = maximumCountPerClient
        self.timeout = timeout
        self.freeJobCount = freeJobCount
    }

    /// Admits or refuses a request. An admitted one must ``leave(_:)``.
    ///
    /// - Parameters:
    ///   - client: The address; requests without one are not limited by client.
    ///   - jobCount: The number of decodes and encodes that wait for a processor.
    ///   - hostWait: The seconds until a load of the source's host can start.
    mutating func enter(_ client: String, jobCount: Int, hostWait: Double = 0) -> Decision {
        let wait = max(jobCount > freeJobCount ? pace.seconds(for: jobCount) : 0, hostWait)
        let retryAfter = Int(min(max(wait.rounded(.up), 1), 60))
        guard count < maximumCount, wait <= timeout / 2 else { return .serverIsFull(retryAfter: retryAfter) }
        let own = clients[client] ?? 0
        guard client.isEmpty || own < maximumCountPerClient else { return .clientIsFull(retryAfter: retryAfter) }
        count += 1
        if !client.isEmpty { clients[client] = own + 1 }
        return .admitted
    }

    /// Ends an admitted request.
    mutating func leave(_ client: String) {
        count -= 1
        guard let own = clients[client] else { return }
        clients[client] = own > 1 ? own - 1 : nil
    }

    /// Counts an image that was made.
    ///
    /// - Parameters:
    ///   - jobCount: The number of decodes and encodes that wait for a processor now.
    ///   - now: Seconds of a monotonic clock.
    mutating func noteMade(jobCount: Int, now: Double) { pace.noteEnd(isWaitedFor: jobCount > 0, now: now) }
}

/// The pace of a queue: the mean time between two ends of jobs while others wait. Times in which nobody waited say nothing about it.
struct QueuePace: Sendable {
    /// The number of times after which the mean is used, and the number of the latest ones that it is mostly made of.
    private static let (leastCount, memory) = (8, 32)

    private var mean = 0.0
    private var count = 0
    /// The time of the last end, if others waited then.
    private var last: Double?

    /// Counts the end of a job.
    ///
    /// - Parameters:
    ///   - isWaitedFor: True if other jobs wait.
    ///   - now: Seconds of a monotonic clock.
    mutating func noteEnd(isWaitedFor: Bool, now: Double) {
        if let last {
            count = min(count + 1, Self.memory)
            mean += (max(now - last, 0) - mean) / Double(count)
        }
        last = isWaitedFor ? now : nil
    }

    /// Returns the seconds until so many jobs have ended; 0 if too little is known.
    func seconds(for jobCount: Int) -> Double { count < Self.leastCount ? 0 : Double(jobCount) * mean }
}
