import FoundationEssentials
import WebImageCache

extension S3Store {
    /// Not below `wi1/`, as the generation.
    static let countsName = "wi1-stats"
    /// Each batch costs two requests.
    var countInterval: UInt64 { 60_000_000_000 }
    private static let mostCountAttempts = 5

    /// Replaces the sums by larger ones, if no other machine has done so meanwhile; else again. A service without conditional writes gets
    /// none: sums that lose counts would be wrong.
    func add(_ counts: [(name: String, count: Int)], completion: @escaping @Sendable (Bool) -> Void) {
        add(counts, attempts: Self.mostCountAttempts, completion: completion)
    }

    private func add(
        _ counts: [(name: String, count: Int)],
        attempts: Int,
        completion: @escaping @Sendable (Bool) -> Void
    ) {
        guard state.withLock({ $0.addsCounts }) else { return completion(true) }
        guard attempts > 0 else { return completion(false) }
        client.perform(reading(Self.countsName, byteLimit: S3Counts.mostBytes)) { [self] result in
            var sums = S3Counts()
            var operation = S3Client.Operation(method: "PUT", name: Self.countsName, patience: Self.writePatience)
            operation.fields["content-type"] = "application/json"
            switch result {
            case .success(let answer):
                guard let tag = answer.headers["ETag"], S3Counts.isTag(tag) else { return completion(true) }
                sums = S3Counts(document: answer.body) ?? S3Counts()
                operation.fields["if-match"] = tag
            case .failure(.refused(.absent)): operation.fields["if-none-match"] = "*"
            // Something else has the name.
            case .failure(.tooLarge), .failure(.refused(.empty)): break
            case .failure: return completion(false)
            }
            sums.add(counts)
            operation.body = sums.document
            client.perform(operation) { [self] result in
                switch result {
                case .success: completion(true)
                case .failure(.refused(.exists)), .failure(.refused(.absent)):
                    // Not all that were refused at the same moment again.
                    _ = client.delays.after(.random(in: 20_000_000...400_000_000)) { [self] in
                        add(counts, attempts: attempts - 1, completion: completion)
                    }
                case .failure(.refused(.unsupported)):
                    state.withLock { $0.addsCounts = false }
                    completion(true)
                // They may have been added: rather lost than counted twice.
                case .failure(.late), .failure(.connection): completion(true)
                case .failure: completion(false)
                }
            }
        }
    }
}

/// The sums of all machines, as a document of JSON. It may contain sums of other versions.
struct S3Counts: Sendable, Hashable {
    static let mostBytes = 4096
    private static let mostSums = 64

    private(set) var sums: [String: Int] = [:]

    init() {}

    /// Returns nil for anything else.
    init?(document: Data) {
        guard document.count <= Self.mostBytes,
            let sums = try? JSONDecoder().decode([String: Int].self, from: document),
            sums.count <= Self.mostSums, sums.allSatisfy({ $0.key.utf8.count <= 32 && $0.value >= 0 })
        else { return nil }
        self.sums = sums
    }

    var document: Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return (try? encoder.encode(sums)) ?? Data()
    }

    var statistics: RemoteStatistics {
        var statistics = RemoteStatistics()
        for (name, path) in RemoteStatistics.fields { statistics[keyPath: path] = sums[name] ?? 0 }
        return statistics
    }

    mutating func add(_ counts: [(name: String, count: Int)]) {
        for (name, count) in counts {
            let (sum, overflow) = sums[name, default: 0].addingReportingOverflow(max(count, 0))
            sums[name] = overflow ? .max : sum
        }
    }

    /// Returns whether an entity tag can be sent as a condition.
    static func isTag(_ text: String) -> Bool {
        (1...256).contains(text.utf8.count) && text.utf8.allSatisfy { $0 > 32 && $0 < 127 }
    }
}
