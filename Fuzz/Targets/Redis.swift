import FoundationEssentials
import TestSupport

@testable import WebImageFleet

/// Replies of Redis and Valkey.
extension FuzzTarget {
    static let redis: [FuzzTarget] = [
        FuzzTarget(
            name: "redis-replies",
            summary: "replies of Redis in both protocols, in pieces; redirections, tables of slots",
            seeds: { replySeeds.map { Data($0.utf8) } },
            check: checkReplies
        )
    ]

    private static let replySeeds = [
        "+OK\r\n$3\r\nfoo\r\n:12\r\n-ERR no\r\n$-1\r\n*-1\r\n*2\r\n$1\r\na\r\n*0\r\n",
        "_\r\n#t\r\n,1.5\r\n(123\r\n!5\r\nERR x\r\n=5\r\ntxt:x\r\n~1\r\n+a\r\n%1\r\n+k\r\n:1\r\n>1\r\n+p\r\n|1\r\n+a\r\n+b\r\n+c\r\n",
        "-MOVED 3999 127.0.0.1:6381\r\n-ASK 1 [::1]:6381\r\n-CLUSTERDOWN x\r\n-OOM x\r\n",
        "*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n$9\r\n127.0.0.1\r\n:7000\r\n",
    ]

    /// Whole, in pieces and one by one, the bytes have the same replies, within the limits.
    @Sendable private static func checkReplies(_ data: Data) throws(FuzzFinding) {
        let limits = RESPReader.Limits(
            depth: 4,
            stringByteCount: 1000,
            lineByteCount: 300,
            memberCount: 200,
            byteCount: 3000
        )
        let whole = replies(data, in: data.count, limits)
        for size in [1, 7] {
            let other = replies(data, in: size, limits)
            try must(other.values == whole.values, "in pieces of \(size), the replies are others")
            try must(other.failure == whole.failure, "in pieces of \(size), the end is another")
        }
        for value in whole.values {
            try must(depth(value) <= limits.depth, "a reply is too deep")
            if case .error(let line) = value {
                for attempts in 0...9 { _ = RedisRefusal(line).reaction(afterAttempts: attempts) }
            }
            if let slots = ClusterSlots(value, from: RedisEndpoint(host: "h", port: 1)) {
                for slot in [0, 1, 8191, 16383] {
                    guard let master = slots.master(of: slot) else { continue }
                    try must(master.port > 0, "a master has no port")
                }
            }
        }
    }

    private static func replies(
        _ data: Data,
        in size: Int,
        _ limits: RESPReader.Limits
    ) -> (values: [RESPValue], failure: RESPReader.Failure?) {
        var reader = RESPReader(limits: limits)
        var values: [RESPValue] = []
        var rest = data[...]
        while !rest.isEmpty {
            let piece = Data(rest.prefix(max(size, 1)))
            rest = rest.dropFirst(piece.count)
            piece.withUnsafeBytes { reader.append($0) }
            do throws(RESPReader.Failure) {
                while let value = try reader.next() { values.append(value) }
            } catch { return (values, error) }
        }
        return (values, nil)
    }

    private static func depth(_ value: RESPValue) -> Int {
        switch value {
        case .array(let members), .set(let members), .map(let members), .push(let members):
            1 + (members.map(depth).max() ?? 0)
        default: 0
        }
    }
}
