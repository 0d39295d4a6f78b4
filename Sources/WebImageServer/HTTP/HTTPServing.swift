import WebImage

/// A server of HTTP/1.1, behind which the library that implements it is hidden.
///
/// It calls a ``HTTPHandling`` for each request whose head passed the ``HeadCheck``.
protocol HTTPServing: AnyObject, Sendable {
    /// The number of open connections.
    var connectionCount: Int { get }
    /// The number of requests that are being read, made or sent.
    var busyCount: Int { get }
    /// The number of all requests so far.
    var requestCount: Int { get }
    /// Accepts no more connections. Open ones end with their next answer.
    func quiesce()
    /// Ends all connections, and returns when that is done. Requests that wait for an answer are cancelled.
    func stop()
}

/// Answers the requests of a server.
protocol HTTPHandling: AnyObject, Sendable {
    /// Returns the answer to a request, or how to get it. Called on a thread that also serves other connections: must not block.
    func reply(to request: HTTPRequest) -> HTTPReply
    /// Called once for each request whose head was read, after the answer was sent or the connection ended, also for refused ones.
    func ended(_ exchange: HTTPExchangeSummary)
}

/// The head of a request.
struct HTTPRequest: Sendable {
    /// The methods of a server that only delivers.
    enum Method: String, Sendable { case get = "GET", head = "HEAD", options = "OPTIONS" }

    var method: Method
    /// The path and the query as they were sent; starts with a slash, or is `*` with OPTIONS.
    var target: String
    var headers = HTTPHeaders()
    /// The address of the client; empty for a unix socket.
    var client = ""
}

/// An answer, now or later.
enum HTTPReply: Sendable {
    case now(HTTPAnswer)
    /// Starts the work. The completion must be called once, on any thread, also after a cancel: the client may have left.
    case later(@Sendable (_ completion: @escaping @Sendable (HTTPAnswer) -> Void) -> any WebImageOperation)
}

/// An answer: status, fields and body. `Content-Length`, `Date` and `Connection` are added by the server.
struct HTTPAnswer: Sendable {
    var status: Int
    var headers = HTTPHeaders()
    var body: ServedBody?
    /// The part of the body that is sent; all of it if nil.
    var range: Range<Int>?
    /// True if the connection ends after the answer.
    var closes = false
    /// A word for the log about where the body came from.
    var origin = ""
    /// The cause of an error, for the log.
    var cause: String?
    /// Set if the same answer is sent many times. ``origin`` and ``cause`` may differ.
    var memo: HTTPAnswerMemo?

    /// Returns an answer with a line of text.
    static func text(_ status: Int, _ text: String, headers: HTTPHeaders = [:]) -> HTTPAnswer {
        var answer = HTTPAnswer(status: status, headers: headers, body: ServedBody(text + "\n"))
        answer.headers.add(name: "Content-Type", value: "text/plain; charset=utf-8")
        return answer
    }
}

/// A place where a server keeps what it has made of an answer, for the next time that it is sent.
final class HTTPAnswerMemo: Sendable {
    let content = Lock<(any AnyObject & Sendable)?>(nil)
}

/// The outcome of a request, for logs and counters.
struct HTTPExchangeSummary: Sendable {
    var method: String
    var target: String
    var client: String
    var userAgent: String?
    var status: Int
    /// The bytes of the body.
    var byteCount: Int
    var nanoseconds: UInt64
    var origin: String
    var cause: String?
    /// False if the connection broke before the whole answer was sent.
    var isComplete: Bool
}
