import FoundationEssentials

/// URLs of which a server said that there is nothing (404, 410), for as long as it said that this holds. In memory; a pure value.
///
/// Holds at most `limit` of them: when there are more, those go whose time ends first, half of all at once, so that each is looked
/// at a few times on average.
struct MissingPictures: Sendable {
    /// What was asked: another request for the URL, for example with a password, may be answered otherwise.
    struct Request: Hashable, Sendable {
        var url: URL
        var headers: HTTPHeaders
    }

    private struct Mark {
        var error: WebImageError
        /// In seconds since 1970.
        var since: Double
        var until: Double
    }

    private var marks: [Request: Mark] = [:]
    private let limit: Int

    init(limit: Int = 1024) { self.limit = max(limit, 2) }

    var count: Int { marks.count }

    /// What the server said, if that still holds.
    ///
    /// - Parameter now: seconds since 1970. Before the answer came, it does not hold: the clock was set back, and nobody knows
    ///   how far.
    mutating func error(of request: Request, at now: Double) -> WebImageError? {
        guard !marks.isEmpty, let mark = marks[request] else { return nil }
        if now >= mark.since, now < mark.until { return mark.error }
        marks[request] = nil
        return nil
    }

    /// Holds what a server said, for some seconds from now.
    mutating func insert(_ request: Request, _ error: WebImageError, at now: Double, for seconds: Double) {
        guard seconds > 0 else { return }
        let error = error.withoutBulk
        marks[request] = Mark(error: error, since: now, until: now + seconds)
        guard marks.count > limit else { return }
        let middle = marks.values.map(\.until).sorted()[marks.count / 2]
        let kept = marks.filter { $0.value.until > middle }
        // Many may end at one moment.
        marks = kept.isEmpty ? [request: Mark(error: error, since: now, until: now + seconds)] : kept
    }

    mutating func remove(_ request: Request) {
        if !marks.isEmpty { marks[request] = nil }
    }

    /// Forgets all requests for a URL. Cost: a look at each mark.
    mutating func remove(_ url: URL) {
        if !marks.isEmpty { marks = marks.filter { $0.key.url != url } }
    }

    mutating func removeAll() { marks = [:] }
}

extension WebImageError {
    /// The most bytes of a response's fields that are kept for each picture that there is not.
    private static let mostFieldBytes = 2048

    /// The same without the response if that is long: whoever answers decides how long it is, and many answers are kept.
    fileprivate var withoutBulk: WebImageError {
        let byteCount = response?.headers.fields.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count } ?? 0
        guard byteCount > Self.mostFieldBytes else { return self }
        var error = self
        error.response = nil
        return error
    }
}
