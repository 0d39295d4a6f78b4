import FoundationEssentials

/// The beginning of a body, left by an attempt that broke off: an earlier one of this download, or of another process.
struct PartialDownload: Sendable {
    /// What is known of it. Its `count` and `hash` are those of the file and not looked at here.
    var head: PartialHead
    /// The bytes.
    var bytes: Data
    /// The file that it is kept in, which is locked as long as anybody has this; nil without one.
    var writer: PartialWriter?

    /// The first byte that is asked for.
    var start: Int { PartialRules.start(after: bytes.count) }

    /// Makes of a request for the whole one for the rest.
    func apply(to request: inout HTTPTransferRequest) {
        request.headers["Range"] = "bytes=\(start)-"
        request.headers["If-Range"] = head.validator.text
    }

    /// What an answer to that request means.
    func answer(_ response: HTTPResponse) -> PartialAnswer {
        var head = head
        head.count = bytes.count
        return PartialAnswer(response, part: head, start: start)
    }
}
