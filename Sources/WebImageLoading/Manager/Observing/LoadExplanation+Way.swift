import FoundationEssentials

/// The cache lookups and the actions of the loader.
extension LoadExplanation {
    /// Describes the cache lookups, and the loader's actions if it was asked.
    static func way(_ story: LoadTimeline, _ phase: LoadTimeline.Phase) -> String? {
        let looks = self.looks(story, phase)
        guard phase.download.asked != nil else { return looks.isEmpty ? nil : looks + "." }
        let source = self.source(story, phase.download)
        let details = self.details(phase.download)
        let so = looks.isEmpty ? source : "\(looks), so \(source)"
        return details.isEmpty ? so + "." : "\(so): \(details)."
    }

    /// Describes the result of a refresh.
    static func news(_ story: LoadTimeline, _ phase: LoadTimeline.Phase) -> String? {
        guard phase.download.asked != nil || phase.isNotModified else { return nil }
        var parts = [details(phase.download)].filter { !$0.isEmpty }
        if phase.isNotModified { parts.append("there is nothing newer") }
        let asked = "asked \(place(story.url)) for something newer"
        return parts.isEmpty ? asked + "." : "\(asked): \(parts.joined(separator: ", "))."
    }

    private static func looks(_ story: LoadTimeline, _ phase: LoadTimeline.Phase) -> String {
        if phase.memoryMiss == .noKey || phase.diskLooks.contains(where: { $0.reason == .noKey }) {
            return "it has no cache key and bypasses the caches"
        }
        let isNotAsked = !phase.diskLooks.isEmpty && phase.diskLooks.allSatisfy { $0.reason == .notAsked }
        if phase.memoryMiss == .notAsked, isNotAsked { return "the caches were not queried" }
        var parts = phase.memoryMiss.map { [memoryMiss($0)] } ?? []
        for look in phase.diskLooks { parts.append(disk(look, isResult: look.key == story.key)) }
        if let key = phase.memoryHit {
            let source = key.contains("-Thumbnail(") ? "in another size" : "as its source image"
            parts.append(key == story.key ? "in memory" : "found in memory " + source)
        }
        let found = phase.memoryHit != nil || phase.diskLooks.last?.byteCount != nil
        guard found, parts.count > 1, let last = parts.popLast() else { return parts.joined(separator: ", ") }
        let isMissing = parts.allSatisfy { $0.hasPrefix("not ") || $0.hasPrefix("nor ") }
        return parts.joined(separator: ", ") + (isMissing ? ", but " : "; it was ") + last
    }

    private static func memoryMiss(_ reason: WebImageLoadEvent.MissReason) -> String {
        switch reason {
        case .absent, .damaged, .refused: "not in memory"
        case .notAsked: "memory was not queried"
        case .otherByteLimit: "in memory only with another byte limit"
        case .firstFrameOnly: "in memory only as its first frame"
        case .noKey: "it has no cache key"
        }
    }

    private static func disk(_ look: LoadTimeline.DiskLook, isResult: Bool) -> String {
        if let count = look.byteCount {
            let source = look.key.contains("-Thumbnail(") ? "in another size" : "as the original"
            return (isResult ? "on disk" : "found on disk " + source) + " (\(Wording.bytes(Int64(count))))"
        }
        switch look.reason {
        case .notAsked?: return isResult ? "the disk was not queried" : "the disk was not queried for the original"
        case .damaged?: return isResult ? "the entry on disk was not an image" : "the original on disk was not an image"
        case .refused?: return "the entry on disk is refused by the policy"
        case .otherByteLimit?: return "on disk only with another byte limit"
        case .firstFrameOnly?: return "on disk only as its first frame"
        case .absent?, .noKey?, nil: return isResult ? "not on disk" : "nor is the original"
        }
    }

    static func joining(_ stage: WebImageLoadEvent.Stage) -> String {
        switch stage {
        case .image: "joined another load of the same image."
        case .data: "joined another load of the same bytes."
        case .disk: "joined another load's disk read."
        case .download: "joined another load's download."
        case .decode: "joined another load's decode."
        case .transform: "joined another load's transform."
        }
    }

    // MARK: The loader

    private static func source(_ story: LoadTimeline, _ download: LoadTimeline.Download) -> String {
        let isThere = download.end != nil
        switch story.url?.scheme?.lowercased() {
        case "http", "https":
            return isThere ? "it was downloaded from \(place(story.url))" : "\(place(story.url)) was asked"
        case "file": return isThere ? "it was read from the file" : "the file was opened"
        case "data": return isThere ? "it was taken from the URL itself" : "the URL itself was read"
        default: return isThere ? "it came from the loader" : "the loader was asked"
        }
    }

    private static func details(_ download: LoadTimeline.Download) -> String {
        var parts: [String] = []
        if download.waited >= 1_000_000 { parts.append("waited \(Wording.duration(download.waited)) for a slot") }
        let start = download.sent ?? download.asked ?? 0
        if let response = download.response, response.time >= start {
            // After retries, the time would include all attempts.
            let after = download.retries.isEmpty ? " after \(Wording.duration(response.time - start))" : ""
            if response.value.statusCode != 200 {
                parts.append("status \(response.value.statusCode)\(after)")
            } else if !after.isEmpty {
                parts.append("first byte\(after)")
            }
        }
        if let end = download.end {
            parts.append(transfer(end.byteCount, end.metrics, end.time > start ? end.time - start : 0))
        } else if let progress = download.progress, progress.receivedByteCount > 0 {
            let whole = progress.expectedByteCount.map { " of \(Wording.bytes($0))" } ?? ""
            parts.append("\(Wording.bytes(progress.receivedByteCount))\(whole) received")
        }
        return parts.joined(separator: ", ")
    }

    private static func transfer(_ count: Int, _ metrics: DownloadMetrics?, _ nanoseconds: UInt64) -> String {
        var facts: [String] = []
        if nanoseconds >= 1_000_000, count >= 10_000 {
            facts.append(Wording.bytes(Int64(Double(count) / Double(nanoseconds) * 1e9)) + "/s")
        }
        if let metrics {
            if !metrics.httpVersion.isEmpty { facts.append("HTTP \(metrics.httpVersion)") }
            if metrics.isReusedConnection { facts.append("reused connection") }
            if metrics.redirectCount > 0 { facts.append(Wording.count(metrics.redirectCount, "redirect")) }
            if metrics.attemptCount > 1 { facts.append(Wording.count(metrics.attemptCount, "attempt")) }
        }
        let list = facts.isEmpty ? "" : " (\(facts.joined(separator: ", ")))"
        return "\(Wording.bytes(Int64(count))) in \(Wording.duration(nanoseconds))\(list)"
    }
}
