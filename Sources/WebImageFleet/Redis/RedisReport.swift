import FoundationEssentials
import WebImageCache

extension RedisStore {
    /// The number of keys in a sample.
    private static let sampleCount = 1000

    func report() async throws(WebImageError) -> RemoteStoreReport {
        var report = RemoteStoreReport()
        let start = ContinuousClock.now
        switch await reply("HGETALL", RemoteNames.statistics) {
        case .success(let reply): report.statistics = Self.statistics(reply)
        // The user may have no right to it.
        case .failure(.refused(.forbidden)): break
        case .failure(let failure): throw failure.error
        }
        report.replyTime = (ContinuousClock.now - start) / .seconds(1)
        if let text = (try? await reply("INFO").get())?.text { Self.read(text, into: &report) }
        await sample(into: &report)
        return report
    }

    private func reply(_ words: String...) async -> Result<RESPValue, RedisFailure> {
        var command = RedisCommand()
        command.arguments = words.map { Data($0.utf8) }
        let key = words.count > 1 ? words[1] : ""
        return await withCheckedContinuation { continuation in
            client.send(command, key: key, patience: Self.writePatience) { continuation.resume(returning: $0) }
        }
    }

    private static func statistics(_ reply: RESPValue) -> RemoteStatistics {
        let parts: [RESPValue]
        switch reply {
        case .array(let members), .map(let members): parts = members
        default: parts = []
        }
        var statistics = RemoteStatistics()
        for index in stride(from: 0, to: parts.count - 1, by: 2) {
            guard let name = parts[index].text, let count = parts[index + 1].text.flatMap({ Int($0) }),
                let field = RemoteStatistics.fields.first(where: { $0.name == name })
            else { continue }
            statistics[keyPath: field.path] = count
        }
        return statistics
    }

    private static func read(_ info: String, into report: inout RemoteStoreReport) {
        var numbers: [Substring: Int] = [:]
        for line in info.split(whereSeparator: \.isNewline) {
            guard let colon = line.firstIndex(of: ":") else { continue }
            numbers[line[..<colon]] = Int(line[line.index(after: colon)...])
        }
        report.serverMemory = numbers["used_memory"]
        report.serverMemoryLimit = numbers["maxmemory"].flatMap { $0 > 0 ? $0 : nil }
        report.serverEvictionCount = numbers["evicted_keys"]
        // Keys of a cluster are on several nodes, of which this is one.
        if numbers["cluster_enabled"] == 1 { report.valueCount = -1 }
    }

    /// Looks at some keys, whatever their names are, and concludes from those that are values how many there are.
    private func sample(into report: inout RemoteStoreReport) async {
        guard report.valueCount == nil else {
            report.valueCount = nil
            return
        }
        guard case .success(.number(let total)) = await reply("DBSIZE"),
            case .success(let scanned) = await reply("SCAN", "0", "COUNT", String(Self.sampleCount)),
            let parts = scanned.members, parts.count == 2, let keys = parts[1].members?.compactMap(\.text)
        else { return }
        let values = keys.filter { $0.hasPrefix("wi1:{") && $0.hasSuffix("}") }
        var bytes = 0.0
        for name in values {
            guard case .success(.number(let count)) = await reply("STRLEN", name) else { return }
            bytes += Double(max(count, 0))
        }
        let isAll = parts[0].text == "0"
        let factor = isAll || keys.isEmpty ? 1 : Double(max(total, 0)) / Double(keys.count)
        report.isEstimate = !isAll
        report.valueCount = Int(clamping: Int64((Double(values.count) * factor).rounded()))
        report.valueByteCount = Int(clamping: Int64(min(bytes * factor, 1e18)))
    }
}

extension RedisFailure {
    /// The failure as an error of the library.
    fileprivate var error: WebImageError {
        switch self {
        case .unavailable: WebImageError(.hostUnavailable, "request not sent: the store has failed")
        case .late: WebImageError(.hostUnavailable, "the store did not answer in time")
        case .connection: WebImageError(.hostUnavailable, "the connection to the store, or the login, failed")
        case .untrusted(let failure): WebImageError(.secureConnectionFailed, "the store is not used: \(failure)")
        case .refused(let refusal): WebImageError(.hostUnavailable, "the store answered with an error: \(refusal)")
        }
    }
}
