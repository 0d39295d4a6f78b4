/// A case of the public suite of tests for HTTP caches: loads of one URL, what the origin answers to each, and what is expected.
/// `Cases/README.txt` says how it is written.
struct HTTPCacheCase: Sendable {
    enum Kind: String, Sendable { case required, optimal, check }

    /// A name and a value, or what is expected of a field.
    struct Field: Sendable, Hashable {
        var name: String
        var value: String
    }

    enum FieldExpectation: Sendable, Hashable {
        case value(Field)
        case greater(name: String, than: Int)
        case present(String)
        case missing(String)
    }

    enum Expectation: String, Sendable { case cached, behind, origin, etag, modified, unanswered, nothing }

    /// What the origin answers if it is asked.
    struct Answer: Sendable {
        var status = 200
        var closes = false
        /// Seconds that it takes.
        var delay = 0.0
        var interimStatus: Int?
        var interimFields: [Field] = []
        var fields: [Field] = []
    }

    struct Step: Sendable {
        var expectation = Expectation.nothing
        var query: String?
        var request: [Field] = []
        var answer = Answer()
        /// Whether the load ends with a picture; nil for what the answer's status says.
        var endsWithPicture: Bool?
        var delivered: [FieldExpectation] = []
        var sent: [Field] = []
        /// Names of fields that are not to be sent.
        var unsent: [String] = []
        /// Seconds that pass after it.
        var wait = 0.0

        var shouldEndWithPicture: Bool { endsWithPicture ?? (expectation != .unanswered && answer.status == 200) }
    }

    var id: String
    var kind: Kind
    var group: String
    /// In what it differs from the suite's.
    var adaptation: String?
    /// Why it does not come out as hoped.
    var reason: String?
    var steps: [Step] = []

    /// Whether an answer without a picture is expected to be remembered, which is a matter of memory.
    var expectsRememberedError: Bool {
        steps.contains { $0.expectation == .cached && !$0.shouldEndWithPicture }
    }
}

/// A file of cases.
struct HTTPCacheCaseFile: Sendable {
    var group = ""
    var cases: [HTTPCacheCase] = []
    /// Cases that are not run, and why.
    var left: [(reason: String, ids: [String])] = []
}
