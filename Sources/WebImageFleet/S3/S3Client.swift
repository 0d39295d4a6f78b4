import FoundationEssentials
import WebImageHTTP

/// A client of one bucket. Never blocks; every operation ends by its deadline.
final class S3Client: Sendable {
    /// An operation on one object, or on the bucket.
    struct Operation: Sendable {
        var method: String
        /// The name of an object; nil for the bucket.
        var name: String?
        /// The parameters of the URL.
        var query: [String: String] = [:]
        var body: Data?
        /// Further header fields, all of which are signed; names are in lower case.
        var fields: [String: String] = [:]
        /// The time until the response begins, in nanoseconds.
        var patience: UInt64
        /// The largest body of a response.
        var byteLimit = S3Client.mostBytes
        /// True if the response may be a part of the object.
        var isPart = false
    }

    enum Failure: Error, Hashable {
        /// The circuit is open, credentials are missing, or there are too many requests.
        case unavailable
        /// The response did not begin or end in time. The operation may still take effect.
        case late
        /// The connection could not be made, or broke off. The operation may have taken effect.
        case connection
        /// The object is larger than those that are stored.
        case tooLarge
        case refused(S3Refusal)
    }

    typealias Completion = @Sendable (Result<S3Exchange.Answer, Failure>) -> Void

    /// The largest object, in bytes: larger ones would need several parts.
    static let mostBytes = 64 << 20
    /// The rate at which a body that has begun must arrive, in bytes per second.
    static let leastRate: UInt64 = 4 << 20
    /// Requests beyond these are not sent.
    private static let mostRequests = 128

    let configuration: S3Configuration
    let credentials: AWSCredentialCache
    private let transport: any HTTPTransport
    let clock: ClockSource
    let delays: DelaySource
    private let state: Lock<(health: NodeHealth, requestCount: Int)>

    init(
        _ configuration: S3Configuration,
        credentials: AWSCredentialCache,
        transport: any HTTPTransport = CurlTransport(),
        health: NodeHealth.Rules = NodeHealth.Rules(),
        clock: ClockSource = .system,
        delays: DelaySource = .system
    ) {
        self.configuration = configuration
        self.credentials = credentials
        self.transport = transport
        self.clock = clock
        self.delays = delays
        state = Lock((NodeHealth(rules: health), 0))
    }

    deinit { transport.invalidate() }

    /// The circuit breaker.
    var circuits: RemoteCircuits {
        state.withLock { RemoteCircuits(openCount: $0.health.isClosed ? 0 : 1, openingCount: $0.health.openings) }
    }

    /// Performs an operation. The completion is called once, on any thread, and must not block.
    func perform(_ operation: Operation, completion: @escaping Completion) {
        let now = clock.monotonicNanoseconds()
        let admission = state.withLock { state -> NodeHealth.Admission in
            guard state.requestCount < Self.mostRequests else { return .refused }
            let admission = state.health.admit(at: now)
            if admission != .refused { state.requestCount += 1 }
            return admission
        }
        guard admission != .refused else { return completion(.failure(.unavailable)) }
        let request = S3Request(operation, of: self) { [self] result in
            note(result, admission)
            completion(result)
        }
        request.start()
    }

    private func note(_ result: Result<S3Exchange.Answer, Failure>, _ admission: NodeHealth.Admission) {
        let outcome: NodeHealth.Outcome =
            switch result {
            case .failure(.late): .late
            case .failure(.connection), .failure(.unavailable), .failure(.refused(.storeFailure)),
                .failure(.refused(.staleCredentials)):
                .failed
            case .success, .failure(.tooLarge), .failure(.refused): .answered
            }
        let now = clock.monotonicNanoseconds()
        state.withLock { state in
            state.requestCount -= 1
            state.health.note(outcome, of: admission, at: now, random: .random(in: 0...1))
        }
    }

    /// Sends a signed request.
    func send(
        _ operation: Operation,
        signedBy credentials: AWSCredentials,
        sink: any HTTPTransferSink
    ) -> (any HTTPTransfer)? {
        let query = AWSSigner.encoded(query: operation.query)
        guard let object = configuration.object(operation.name, query: query) else { return nil }
        let time = AWSSigner.Time(secondsSince1970: clock.wallTime())
        var hash = AWSSigner.emptyHash
        if let body = operation.body {
            guard let bytes = SHA256.hash(body) else { return nil }
            hash = SHA256.hexadecimal(bytes)
        }
        var fields = operation.fields
        (fields["x-amz-content-sha256"], fields["x-amz-date"]) = (hash, time.text)
        fields["x-amz-security-token"] = credentials.token
        var signed = fields
        signed["host"] = object.host
        let value = AWSSigner(region: configuration.region).authorization(
            for: AWSSigner.Request(
                method: operation.method,
                path: object.path,
                query: query,
                fields: signed,
                bodyHash: hash
            ),
            at: time,
            credentials
        )
        guard let value else { return nil }
        var request = HTTPTransferRequest(url: object.url)
        for (name, value) in fields { request.headers.add(name: name, value: value) }
        request.headers.add(name: "Authorization", value: value)
        request.method = operation.method
        request.body = operation.body
        request.maximumByteCount = Self.mostBytes
        // Times are limited by `S3Request`; these are for connections that it has left.
        request.connectTimeout = max(Double(operation.patience) / 1e9, 0.1)
        request.totalTimeout = Double(operation.patience &+ Self.time(forBytes: Self.mostBytes)) / 1e9
        request.minimumBytesPerSecond = 0
        return transport.start(request, sink: sink)
    }

    /// The time that a body of that size may take, in nanoseconds.
    static func time(forBytes count: Int) -> UInt64 { UInt64(clamping: count) * 1_000_000_000 / leastRate }
}

/// One operation: its credentials, its deadlines, and a second attempt if the credentials have ended.
private final class S3Request: Sendable {
    private struct State {
        var completion: S3Client.Completion?
        var transfer: (any HTTPTransfer)?
        var cancelTimer: (@Sendable () -> Void)?
        var attempts = 0
    }

    private let operation: S3Client.Operation
    private let client: S3Client
    private let state: Lock<State>

    init(_ operation: S3Client.Operation, of client: S3Client, completion: @escaping S3Client.Completion) {
        self.operation = operation
        self.client = client
        state = Lock(State(completion: completion))
    }

    func start() {
        setDeadline(operation.patience)
        attempt()
    }

    private var isWanted: Bool { state.withLock { $0.completion != nil } }

    private func attempt() {
        client.credentials.withCredentials { [self] credentials in
            guard isWanted else { return }
            guard let credentials else { return finish(.failure(.unavailable)) }
            state.withLock { $0.attempts += 1 }
            let sink = S3Exchange(
                byteLimit: operation.byteLimit,
                didBegin: { [self] in setDeadline(operation.patience &+ S3Client.time(forBytes: $0)) },
                completion: { [self] in answered($0, credentials) }
            )
            guard let transfer = client.send(operation, signedBy: credentials, sink: sink) else {
                return finish(.failure(.unavailable))
            }
            let isWanted = state.withLock { state -> Bool in
                if state.completion != nil { state.transfer = transfer }
                return state.completion != nil
            }
            if !isWanted { transfer.cancel() }
        }
    }

    private func answered(_ result: Result<S3Exchange.Answer, S3Exchange.Failure>, _ credentials: AWSCredentials) {
        switch result {
        case .failure(.connection): finish(.failure(.connection))
        case .failure(.tooLarge): finish(.failure(.tooLarge))
        case .success(let answer) where (200..<300).contains(answer.statusCode):
            finish(operation.isPart || Self.isWhole(answer) ? .success(answer) : .failure(.tooLarge))
        case .success(let answer):
            let refusal = S3Refusal(
                statusCode: answer.statusCode,
                body: answer.body,
                isOptional: Self.optionalFields.contains { operation.fields[$0] != nil }
            )
            guard refusal == .staleCredentials else { return finish(.failure(.refused(refusal))) }
            client.credentials.refuse(credentials)
            if state.withLock({ $0.attempts }) > 1 { finish(.failure(.refused(refusal))) } else { attempt() }
        }
    }

    /// The fields of requests that not every service knows.
    private static let optionalFields = ["if-none-match", "if-match", "x-amz-copy-source"]

    /// Returns whether a response has all of the object: its range is known if only a part was asked for.
    private static func isWhole(_ answer: S3Exchange.Answer) -> Bool {
        guard answer.statusCode == 206 else { return true }
        return answer.headers["Content-Range"] == "bytes 0-\(answer.body.count - 1)/\(answer.body.count)"
    }

    private func setDeadline(_ nanoseconds: UInt64) {
        let cancel = client.delays.after(nanoseconds) { [self] in finish(.failure(.late)) }
        let former = state.withLock { state -> (@Sendable () -> Void)? in
            defer { state.cancelTimer = state.completion == nil ? nil : cancel }
            return state.completion == nil ? cancel : state.cancelTimer
        }
        former?()
    }

    private func finish(_ result: Result<S3Exchange.Answer, S3Client.Failure>) {
        let ended = state.withLock { state -> State in
            defer { state = State(completion: nil, attempts: state.attempts) }
            return state
        }
        ended.cancelTimer?()
        guard let completion = ended.completion else { return }
        if case .failure(.late) = result { ended.transfer?.cancel() }
        completion(result)
    }
}
