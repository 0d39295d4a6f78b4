import WebImage
import WebImageFleet

/// The actions of `webimage cache --remote`.
struct RemoteActions: Sendable {
    private struct Removed: Encodable {
        var removed: Bool
    }

    private struct Stats: Encodable {
        var replyMs: Double
        /// Sums of all processes.
        var hits: Int
        var misses: Int
        var failedQueries: Int
        var refusedValues: Int
        var readBytes: Int
        var storedValues: Int
        var storedBytes: Int
        var circuitOpenings: Int
        /// Nil if unknown.
        var values: Int?
        var valueBytes: Int?
        var estimated: Bool
        /// The server, with everything in it.
        var serverMemory: Int?
        var serverMemoryLimit: Int?
        var serverEvictions: Int?

        init(_ report: RemoteStoreReport) {
            let all = report.statistics
            replyMs = (report.replyTime * 1e6).rounded() / 1000
            (hits, misses, failedQueries) = (all.hitCount, all.missCount, all.failureCount)
            (refusedValues, readBytes) = (all.refusedCount, all.readByteCount)
            (storedValues, storedBytes) = (all.storeCount, all.storedByteCount)
            circuitOpenings = all.circuitOpeningCount
            (values, valueBytes, estimated) = (report.valueCount, report.valueByteCount, report.isEstimate)
            (serverMemory, serverMemoryLimit) = (report.serverMemory, report.serverMemoryLimit)
            serverEvictions = report.serverEvictionCount
        }
    }

    private let store: RemoteImageStore
    private let json: Bool

    init(_ store: RemoteImageStore, _ json: Bool) {
        self.store = store
        self.json = json
    }

    func run(_ action: String) async throws -> Int32 {
        do throws(WebImageError) {
            switch action {
            case "clear":
                try await store.removeAll()
                Terminal.print(json ? JSONLine.text(Removed(removed: true)) : "all entries removed for all machines\n")
            default:
                let stats = Stats(try await store.report())
                Terminal.print(json ? JSONLine.text(stats) : Self.text(stats))
            }
        } catch {
            Terminal.printError(error.message)
            return ExitStatus.failure
        }
        return ExitStatus.success
    }

    private static func text(_ stats: Stats) -> String {
        func bytes(_ count: Int) -> String { ByteCount.describe(Int64(count)) }
        let circuits = stats.circuitOpenings
        var lines = [
            "this process: the circuit is closed, the server replied after \(stats.replyMs) ms",
            "all processes: \(stats.hits) hits (\(bytes(stats.readBytes))), \(stats.misses) misses, of which "
                + "\(stats.failedQueries) without a reply and \(stats.refusedValues) with a refused value; "
                + "\(stats.storedValues) values stored (\(bytes(stats.storedBytes))); circuits opened \(circuits) times",
        ]
        if let count = stats.values, let size = stats.valueBytes {
            lines.append("values now: \(stats.estimated ? "about " : "")\(count), \(bytes(size))")
        }
        if let used = stats.serverMemory {
            let limit = stats.serverMemoryLimit.map { " of \(bytes($0))" } ?? ", without a limit"
            let evictions = stats.serverEvictions.map { "; \($0) keys evicted" } ?? ""
            lines.append("server: \(bytes(used))\(limit) in use\(evictions)")
        }
        return lines.joined(separator: "\n") + "\n"
    }
}
