import FoundationEssentials
import WebImageHTTP

/// Collects one response, within a limit.
final class S3Exchange: HTTPTransferSink {
    struct Answer: Sendable {
        let statusCode: Int
        let headers: HTTPHeaders
        /// The body; of an error only its beginning.
        let body: Data
    }

    enum Failure: Error, Hashable {
        /// The connection could not be made, or broke off.
        case connection
        /// The body exceeds the limit.
        case tooLarge
    }

    private struct State {
        var response: HTTPResponse?
        var body = Data()
        var isTooLarge = false
    }

    /// The bytes of an error that are read.
    private static let mostErrorBytes = 16 << 10

    private let state = Lock(State())
    private let byteLimit: Int
    private let didBegin: @Sendable (_ announced: Int) -> Void
    private let completion: @Sendable (Result<Answer, Failure>) -> Void

    /// - Parameters:
    ///   - byteLimit: the largest body.
    ///   - didBegin: called with the head of a success, and the number of bytes that it announces, within the limit.
    ///   - completion: called once, unless the transfer is cancelled.
    init(
        byteLimit: Int,
        didBegin: @escaping @Sendable (_ announced: Int) -> Void = { _ in },
        completion: @escaping @Sendable (Result<Answer, Failure>) -> Void
    ) {
        self.byteLimit = byteLimit
        self.didBegin = didBegin
        self.completion = completion
    }

    func didReceive(_ response: HTTPResponse) -> WebImageError? {
        let announced = Int(clamping: response.contentLength ?? 0)
        let isSuccess = Self.isSuccess(response)
        let isTooLarge = isSuccess && announced > byteLimit
        state.withLock { state in
            state.response = response
            state.isTooLarge = isTooLarge
            // Not more because of a claimed length.
            if isSuccess, !isTooLarge { state.body.reserveCapacity(min(announced, 1 << 20)) }
        }
        if isTooLarge { return .limitExceeded("byteLimit", allowed: byteLimit, required: announced) }
        if isSuccess { didBegin(announced) }
        return nil
    }

    func didReceive(_ bytes: UnsafeRawBufferPointer) -> WebImageError? {
        let limit = state.withLock { state -> Int? in
            let isError = state.response.map { !Self.isSuccess($0) } ?? true
            let limit = isError ? Self.mostErrorBytes : byteLimit
            guard bytes.count <= limit - state.body.count else {
                state.isTooLarge = !isError
                if isError { state.body.append(contentsOf: bytes.prefix(limit - state.body.count)) }
                return limit
            }
            state.body.append(contentsOf: bytes)
            return nil
        }
        return limit.map { .limitExceeded("byteLimit", allowed: $0, required: $0 + 1) }
    }

    func didFinish(_ error: WebImageError?, metrics: DownloadMetrics) {
        let result = state.withLock { state -> Result<Answer, Failure> in
            if state.isTooLarge { return .failure(.tooLarge) }
            // The status of an error is enough, even if its body broke off.
            guard let response = state.response, error == nil || !Self.isSuccess(response) else {
                return .failure(.connection)
            }
            return .success(Answer(statusCode: response.statusCode, headers: response.headers, body: state.body))
        }
        completion(result)
    }

    private static func isSuccess(_ response: HTTPResponse) -> Bool { (200..<300).contains(response.statusCode) }
}
