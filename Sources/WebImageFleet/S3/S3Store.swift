import FoundationEssentials

/// Keeps values as objects of a bucket.
///
/// S3 has no times after which objects end: entries are stale by what their response says, as on a local disk, and rules of the bucket
/// remove them. It has no leases either, so nobody waits for another machine.
final class S3Store: RemoteStore {
    struct State {
        /// Names that were just found to be absent: of several machines that load the same entry, the first one writes it.
        var absent: Set<String> = []
        /// Changes of one object that wait for an earlier one: requests on several connections have no order.
        var waiting: [String: [Change]] = [:]
        var knowsConditions = true
        var copiesObjects = true
        /// False if the service cannot replace an object only if it has not changed.
        var addsCounts = true
    }

    typealias Change = @Sendable (_ done: @escaping @Sendable () -> Void) -> Void

    private static let mostAbsent = 4096
    /// The time for a write without its body, in nanoseconds: nobody waits for it.
    static let writePatience: UInt64 = 5_000_000_000

    let client: S3Client
    private let patience: UInt64
    let state = Lock(State())

    init(_ client: S3Client, patience: UInt64) { (self.client, self.patience) = (client, patience) }

    var mostValueByteCount: Int { S3Client.mostBytes }
    var mostPendingByteCount: Int { S3Client.mostBytes }

    /// The name of an object: that of the entry without the braces that a Redis cluster needs, so that it need not be encoded.
    static func objectName(_ name: String) -> String {
        name.filter { $0 != "{" && $0 != "}" }.replacing(":", with: "/")
    }

    var circuits: RemoteCircuits { client.circuits }

    /// An operation that reads an object of at most `byteLimit` bytes.
    func reading(_ name: String, byteLimit: Int) -> S3Client.Operation {
        S3Client.Operation(
            method: "GET",
            name: name,
            // An object that is larger, and so is none of ours, does not cost the connection.
            fields: ["range": "bytes=0-\(byteLimit - 1)"],
            patience: patience,
            byteLimit: byteLimit
        )
    }

    func read(_ name: String, completion: @escaping @Sendable (RemoteRead) -> Void) {
        client.perform(reading(Self.objectName(name), byteLimit: S3Client.mostBytes)) { [self] result in
            switch result {
            case .success(let answer):
                let amendment = answer.headers[S3Amendment.field].flatMap { S3Amendment($0) }
                completion(.value(amendment?.applied(to: answer.body) ?? answer.body))
            case .failure(.refused(.absent)):
                state.withLock { state in
                    if state.absent.count >= Self.mostAbsent { state.absent = [] }
                    state.absent.insert(name)
                }
                completion(.absent)
            // Something else has the name, and the next write replaces it.
            case .failure(.tooLarge), .failure(.refused(.empty)): completion(.absent)
            case .failure: completion(.failed)
            }
        }
    }

    func write(_ value: Data, as name: String, seconds: Int, completion: @escaping @Sendable (Bool) -> Void) {
        guard value.count <= S3Client.mostBytes else { return completion(false) }
        inOrder(name) { [self] done in
            let isAbsent = state.withLock { $0.absent.remove(name) != nil }
            put(value, Self.objectName(name), onlyIfAbsent: isAbsent) { written in
                done()
                completion(written != .failed)
            }
        }
    }

    private enum Written: Sendable {
        case stored
        case exists
        case failed
    }

    /// - Parameter onlyIfAbsent: true to keep an object that is there, if the service can do that.
    private func put(
        _ value: Data,
        _ objectName: String,
        onlyIfAbsent: Bool,
        completion: @escaping @Sendable (Written) -> Void
    ) {
        var operation = S3Client.Operation(
            method: "PUT",
            name: objectName,
            body: value,
            fields: ["content-type": "application/octet-stream"],
            patience: Self.writePatience &+ S3Client.time(forBytes: value.count)
        )
        if onlyIfAbsent, state.withLock({ $0.knowsConditions }) { operation.fields["if-none-match"] = "*" }
        client.perform(operation) { [self] result in
            switch result {
            case .success: completion(.stored)
            case .failure(.refused(.exists)): completion(.exists)
            case .failure(.refused(.unsupported)):
                state.withLock { $0.knowsConditions = false }
                put(value, objectName, onlyIfAbsent: false, completion: completion)
            case .failure: completion(.failed)
            }
        }
    }

    func remove(_ name: String) {
        let operation = S3Client.Operation(
            method: "DELETE",
            name: Self.objectName(name),
            patience: Self.writePatience
        )
        inOrder(name) { [client] done in client.perform(operation) { _ in done() } }
    }

    // MARK: Order

    /// Changes an object after earlier changes of it.
    func inOrder(_ name: String, _ change: @escaping Change) {
        let isFirst = state.withLock { state -> Bool in
            guard state.waiting[name] == nil else {
                state.waiting[name]?.append(change)
                return false
            }
            state.waiting[name] = []
            return true
        }
        if isFirst { run(change, name) }
    }

    private func run(_ change: Change, _ name: String) {
        change { [self] in
            let next = state.withLock { state -> Change? in
                guard let first = state.waiting[name]?.first else {
                    state.waiting[name] = nil
                    return nil
                }
                state.waiting[name]?.removeFirst()
                return first
            }
            if let next { run(next, name) }
        }
    }

    // MARK: Generation

    /// Not below `wi1/`: a rule that removes old entries must not remove the generation that all of them have.
    static let generationName = "wi1-generation"
    private static let mostGenerationBytes = 64

    /// A read is a request that costs money and tens of milliseconds.
    let generationTimes = RemoteGeneration.Times(
        refresh: 5_000_000_000,
        freshness: 10_000_000_000,
        longestUse: 60_000_000_000
    )

    /// Reads the generation, or writes the first one. If that takes longer than a read may take, it goes on for later loads.
    func generation(orNew new: String, completion: @escaping @Sendable (String?) -> Void) {
        let pending = PendingResult(completion)
        let cancelTimer = client.delays.after(patience) { pending.finish(nil) }
        readGeneration(orPut: new) { found in
            cancelTimer()
            pending.finish(found)
        }
    }

    /// - Parameter new: what is written if there is none; nil to write nothing.
    private func readGeneration(orPut new: String?, completion: @escaping @Sendable (String?) -> Void) {
        client.perform(reading(Self.generationName, byteLimit: Self.mostGenerationBytes)) { [self] result in
            switch (result, new) {
            case (.success(let answer), _): completion(String(decoding: answer.body, as: UTF8.self))
            case (.failure(.refused(.absent)), let new?): putGeneration(new, onlyIfAbsent: true, completion: completion)
            // Something else has the name.
            case (.failure(.tooLarge), let new?), (.failure(.refused(.empty)), let new?):
                putGeneration(new, onlyIfAbsent: false, completion: completion)
            default: completion(nil)
            }
        }
    }

    /// Without conditional writes, the last of several machines wins; the others find its generation when they read it again.
    private func putGeneration(
        _ new: String,
        onlyIfAbsent: Bool,
        completion: @escaping @Sendable (String?) -> Void
    ) {
        inOrder(Self.generationName) { [self] done in
            put(Data(new.utf8), Self.generationName, onlyIfAbsent: onlyIfAbsent) { [self] written in
                done()
                switch written {
                case .stored: completion(new)
                case .exists: readGeneration(orPut: nil, completion: completion)
                case .failed: completion(nil)
                }
            }
        }
    }

    func setGeneration(_ new: String, completion: @escaping @Sendable (Bool) -> Void) {
        putGeneration(new, onlyIfAbsent: false) { completion($0 != nil) }
    }

    // MARK: Leases

    /// Fails: the machine loads the entry itself.
    func acquire(_ lease: RemoteLease, completion: @escaping @Sendable (Bool?) -> Void) { completion(nil) }
    func renew(_ lease: RemoteLease, completion: @escaping @Sendable (Bool?) -> Void) { completion(nil) }
    func release(_ lease: RemoteLease) {}
}
