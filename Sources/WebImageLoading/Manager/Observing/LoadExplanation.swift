import FoundationEssentials

/// Explains in English what happened in a load, and why.
package enum LoadExplanation {
    /// Returns one paragraph without line breaks, in English: the cache lookups, the source of the image, its processing, the
    /// times, and the result. Omits passwords and queries of URLs.
    ///
    /// - Parameter events: The events of one load, in order.
    package static func text(_ events: [WebImageLoadEvent]) -> String {
        let story = LoadTimeline(events)
        var sentences: [String] = []
        for (index, phase) in story.phases.enumerated() {
            sentences += self.sentences(story, phase, isFirst: index == 0)
        }
        sentences.append(end(story))
        let text = "\(name(of: story.url)): " + sentences.joined(separator: " ")
        return String(
            String.UnicodeScalarView(text.unicodeScalars.map { $0.properties.generalCategory == .control ? "?" : $0 })
        )
    }

    private static func sentences(_ story: LoadTimeline, _ phase: LoadTimeline.Phase, isFirst: Bool) -> [String] {
        var sentences: [String] = []
        sentences += phase.joined.map(joining)
        sentences += [phase.verdict.map(verdict)].compactMap { $0 }
        sentences += [isFirst ? way(story, phase) : news(story, phase)].compactMap { $0 }
        if isFirst, phase.isNotModified { sentences.append("there is nothing newer.") }
        sentences += phase.download.retries.map {
            "an attempt failed (\(words($0.error))) and was retried after \(Wording.duration(seconds: $0.after))."
        }
        sentences += phase.decodes.map { decode in
            let wait = decode.waited >= 1_000_000 ? ", after \(Wording.duration(decode.waited)) in the queue" : ""
            let time = decode.nanoseconds > 0 ? " in \(Wording.duration(decode.nanoseconds))" : ""
            return "decoded to \(decode.width)×\(decode.height)\(time)\(wait)."
        }
        if !phase.transforms.isEmpty {
            let time = phase.transforms.reduce(UInt64(0)) { $0 &+ $1.nanoseconds }
            let keys = phase.transforms.map(\.key).joined(separator: ", ")
            sentences.append("transformed by \(keys)" + (time > 0 ? " in \(Wording.duration(time))." : "."))
        }
        sentences += [stores(story, phase)].compactMap { $0 }
        if let interim = phase.interim {
            sentences.append(
                "Delivered from \(place(interim.source)) \(after(interim.time)), to be refreshed."
            )
        }
        return sentences.map(Wording.capitalized)
    }

    /// Describes the policy's verdict on the cached image.
    private static func verdict(_ verdict: CacheVerdict) -> String {
        let age = verdict.age.map { " (\(Wording.duration(seconds: $0)) old)" } ?? ""
        let act =
            switch verdict.outcome {
            case .serves: "the cached image\(age) is used"
            case .servesStale: "the cached image\(age) is used while it is revalidated"
            case .asksFirst: "the cached image\(age) is revalidated first"
            case .loads: "the cached image does not match this request"
            case .refuses: "the cached image may not be used"
            }
        return "\(act): \(verdict.explanation)."
    }

    // MARK: Storing

    private static func stores(_ story: LoadTimeline, _ phase: LoadTimeline.Phase) -> String? {
        func places(_ isIncluded: (String) -> Bool) -> String? {
            let types = phase.stored.filter { isIncluded($0.key) }.map(\.type)
            let parts = [
                types.contains { $0.includesDisk } ? "on disk" : nil,
                types.contains { $0.includesMemory } ? "in memory" : nil,
            ].compactMap { $0 }
            return parts.isEmpty ? nil : parts.joined(separator: " and ")
        }
        switch (places { $0 == story.key }, places { $0 != story.key }) {
        case (let result?, let original?): return "stored \(result), and the original \(original)."
        case (let result?, nil): return "stored \(result)."
        case (nil, let original?): return "stored the original \(original)."
        case (nil, nil): return nil
        }
    }

    // MARK: The end

    private static func end(_ story: LoadTimeline) -> String {
        let after = self.after(story.time)
        switch story.end {
        case .failed(let error)?: return "Failed \(after): \(words(error)) (code \(error.code.rawValue))."
        case .cancelled?: return "Cancelled \(after)."
        case nil: return "Still running \(after)."
        default:
            // The image delivered before a refresh stays the final one.
            let isOld = story.phases.count > 1 && story.phases.last?.isNotModified ?? false
            return isOld ? "Done \(after)." : "Delivered \(after)."
        }
    }

    private static func after(_ time: UInt64) -> String {
        time < 50_000 ? "at once" : "after \(Wording.duration(time))"
    }

    // MARK: Names

    private static func name(of url: URL?) -> String {
        guard let url else { return "No URL" }
        if url.scheme?.lowercased() == "data" { return "data URL" }
        let name = url.lastPathComponent
        return name.isEmpty || name == "/" ? url.host() ?? "URL" : name
    }

    static func place(_ url: URL?) -> String {
        guard let host = url?.host(), !host.isEmpty else { return "the loader" }
        return url?.port.map { "\(host):\($0)" } ?? host
    }

    private static func place(_ type: ImageCacheType) -> String {
        switch type {
        case .memory: "memory"
        case .disk: "disk"
        case .none, .all: "the loader"
        }
    }

    static func words(_ error: WebImageError) -> String {
        error.underlyingError.map { "\(error.message) (\($0))" } ?? error.message
    }
}
