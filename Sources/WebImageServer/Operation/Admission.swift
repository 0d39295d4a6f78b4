/// Decides which requests for images that are not cached may wait. Hits are not affected.
///
/// A value without threads or clock. The wait of a decode is estimated from the jobs in front of it and from how many images were made in the
/// last seconds: whoever would get the image too late is refused at once, instead of making others late, too.
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
    private var pace = Pace()

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
    ///   - now: Seconds of a monotonic clock.
    mutating func enter(_ client: String, jobCount: Int, now: Double) -> Decision {
        let wait = jobCount > freeJobCount ? pace.seconds(for: jobCount, now: now) : 0
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
    mutating func noteMade(now: Double) { pace.note(now: now) }

    /// The number of images that were made in the last eight seconds.
    private struct Pace: Sendable {
        private static let length = 8
        private var counts = [Int](repeating: 0, count: length)
        private var latest = 0

        mutating func note(now: Double) {
            advance(to: Int(now))
            counts[latest % Self.length] += 1
        }

        /// Returns how long that many jobs take; 0 if nothing is known.
        mutating func seconds(for jobCount: Int, now: Double) -> Double {
            advance(to: Int(now))
            let made = counts.reduce(0, +)
            return made == 0 ? 0 : Double(jobCount) * Double(Self.length) / Double(made)
        }

        private mutating func advance(to second: Int) {
            guard second > latest else { return }
            for step in 1...min(second - latest, Self.length) { counts[(latest + step) % Self.length] = 0 }
            latest = second
        }
    }
}
