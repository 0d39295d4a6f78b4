import FoundationEssentials

/// Says in words what happened in a load, and why.
public enum LoadExplanation {
    /// One paragraph without line breaks, in English: where the picture was looked for, where it came from, what was done with
    /// it, how long that took, and how it ended. Passwords and queries of URLs are not told.
    ///
    /// - Parameter events: those of one load, in order.
    public static func text(_ events: [WebImageLoadEvent]) -> String {
        let story = LoadStory(events)
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

    private static func sentences(_ story: LoadStory, _ phase: LoadStory.Phase, isFirst: Bool) -> [String] {
        var sentences: [String] = []
        sentences += phase.joined.map(joining)
        sentences += [phase.verdict.map(verdict)].compactMap { $0 }
        sentences += [isFirst ? way(story, phase) : news(story, phase)].compactMap { $0 }
        if isFirst, phase.isNotModified { sentences.append("there is nothing newer.") }
        sentences += phase.download.retries.map {
            "an attempt failed, \(words($0.error)), and was repeated after \(Wording.duration(seconds: $0.after))."
        }
        sentences += phase.decodes.map { decode in
            let wait = decode.waited >= 1_000_000 ? ", after \(Wording.duration(decode.waited)) in line" : ""
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

    /// What the policy said of what is cached.
    private static func verdict(_ verdict: CacheVerdict) -> String {
        let age = verdict.age.map { " (\(Wording.duration(seconds: $0)) old)" } ?? ""
        let act =
            switch verdict.outcome {
            case .serves: "what is cached\(age) serves"
            case .servesStale: "what is cached\(age) serves while the server is asked"
            case .asksFirst: "what is cached\(age) serves only if the server agrees"
            case .loads: "what is cached is not for this request"
            case .refuses: "what is cached may not be served"
            }
        return "\(act): \(verdict.explanation)."
    }

    // MARK: What was done with it

    private static func stores(_ story: LoadStory, _ phase: LoadStory.Phase) -> String? {
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

    // MARK: How it ended

    private static func end(_ story: LoadStory) -> String {
        let after = self.after(story.time)
        switch story.end {
        case .failed(let error)?: return "Failed \(after): \(words(error)) (code \(error.code.rawValue))."
        case .cancelled?: return "Cancelled \(after)."
        case nil: return "Still under way \(after)."
        default:
            // The picture that was delivered before a refresh stays the last.
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
