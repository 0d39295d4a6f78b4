/// A case of the public test suite for HTTP caches: loads of one URL, the origin's responses, and the expected results.
/// `Cases/README.txt` describes the notation.
struct HTTPCacheCase: Sendable {
    enum Kind: String, Sendable { case required, optimal, check }

    /// A field's name and its value, or an expectation of a field.
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

    /// The origin's response if it is asked.
    struct Answer: Sendable {
        var status = 200
        var closes = false
        /// Seconds until the response is sent.
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
        /// A Boolean value that indicates whether the load is expected to deliver an image; nil if the response's
        /// status decides.
        var endsWithImage: Bool?
        var delivered: [FieldExpectation] = []
        var sent: [Field] = []
        /// Names of fields that must not be sent.
        var unsent: [String] = []
        /// Seconds that pass after this step.
        var wait = 0.0

        var shouldEndWithImage: Bool { endsWithImage ?? (expectation != .unanswered && answer.status == 200) }
    }

    var id: String
    var kind: Kind
    var group: String
    /// The difference from the suite's case.
    var adaptation: String?
    /// The reason for an unexpected outcome.
    var reason: String?
    var steps: [Step] = []

    /// A Boolean value that indicates whether a response without an image is expected to be remembered. Only memory
    /// does that.
    var expectsRememberedError: Bool {
        steps.contains { $0.expectation == .cached && !$0.shouldEndWithImage }
    }
}

/// A file of cases.
struct HTTPCacheCaseFile: Sendable {
    var group = ""
    var cases: [HTTPCacheCase] = []
    /// Cases that are not run, with reasons.
    var left: [(reason: String, ids: [String])] = []
}
