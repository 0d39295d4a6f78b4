import FoundationEssentials

/// Keeps values as objects of a bucket.
///
/// S3 has no times after which objects end: entries are stale by what their response says, as on a local disk, and rules of the bucket
/// remove them. It has no leases either, so nobody waits for another machine.
final class S3Store: RemoteStore {
    private struct State {
        /// Names that were just found to be absent: of several machines that load the same entry, the first one writes it.
        var absent: Set<String> = []
        /// Changes of one object that wait for an earlier one: requests on several connections have no order.
        var waiting: [String: [Change]] = [:]
        var knowsConditions = true
    }

    private typealias Change = @Sendable (_ done: @escaping @Sendable () -> Void) -> Void

    private static let mostAbsent = 4096
    /// The time for a write without its body, in nanoseconds: nobody waits for it.
    private static let writePatience: UInt64 = 5_000_000_000

    private let client: S3Client
    private let patience: UInt64
    private let state = Lock(State())

    init(_ client: S3Client, patience: UInt64) { (self.client, self.patience) = (client, patience) }

    var mostValueByteCount: Int { S3Client.mostBytes }
    var mostPendingByteCount: Int { S3Client.mostBytes }

    /// The name of an object: that of the entry without the braces that a Redis cluster needs, so that it need not be encoded.
    static func objectName(_ name: String) -> String {
        name.filter { $0 != "{" && $0 != "}" }.replacing(":", with: "/")
    }

    func read(_ name: String, completion: @escaping @Sendable (RemoteRead) -> Void) {
        let operation = S3Client.Operation(
            method: "GET",
            name: Self.objectName(name),
            // An object that is larger, and so is none of ours, does not cost the connection.
            fields: ["range": "bytes=0-\(S3Client.mostBytes - 1)"],
            patience: patience
        )
        client.perform(operation) { [self] result in
            switch result {
            case .success(let value): completion(.value(value))
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
            put(value, name) { isStored in
                done()
                completion(isStored)
            }
        }
    }

    private func put(_ value: Data, _ name: String, completion: @escaping @Sendable (Bool) -> Void) {
        let isConditional = state.withLock { $0.absent.remove(name) != nil && $0.knowsConditions }
        var operation = S3Client.Operation(
            method: "PUT",
            name: Self.objectName(name),
            body: value,
            fields: ["content-type": "application/octet-stream"],
            patience: Self.writePatience &+ S3Client.time(forBytes: value.count)
        )
        if isConditional { operation.fields["if-none-match"] = "*" }
        client.perform(operation) { [self] result in
            switch result {
            case .success, .failure(.refused(.exists)): completion(true)
            case .failure(.refused(.unsupportedCondition)):
                state.withLock { $0.knowsConditions = false }
                put(value, name, completion: completion)
            case .failure: completion(false)
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

    /// Changes an object after earlier changes of it.
    private func inOrder(_ name: String, _ change: @escaping Change) {
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

    // MARK: Leases

    /// Fails: the machine loads the entry itself.
    func acquire(_ lease: RemoteLease, completion: @escaping @Sendable (Bool?) -> Void) { completion(nil) }
    func renew(_ lease: RemoteLease, completion: @escaping @Sendable (Bool?) -> Void) { completion(nil) }
    func release(_ lease: RemoteLease) {}
}
