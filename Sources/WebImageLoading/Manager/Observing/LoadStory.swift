import FoundationEssentials

/// What the events of one load come to, sorted by what they are about.
struct LoadStory {
    /// A look at the disk for one key.
    struct DiskLook {
        var key: String
        /// Bytes of the entry; nil when nothing was found.
        var byteCount: Int?
        var reason: WebImageLoadEvent.MissReason?
    }

    /// What a loader did. Times are those of the events.
    struct Download {
        /// When it got in line for room, and in a downloader's line.
        var queued: UInt64?
        var waiting: UInt64?
        var asked: UInt64?
        var sent: UInt64?
        var response: (time: UInt64, value: HTTPResponse)?
        var retries: [(error: WebImageError, after: Double)] = []
        var progress: LoadProgress?
        var end: (time: UInt64, byteCount: Int, metrics: DownloadMetrics?)?
    }

    /// Everything up to a picture that was delivered, or to the end.
    struct Phase {
        var memoryHit: String?
        var memoryMiss: WebImageLoadEvent.MissReason?
        var diskLooks: [DiskLook] = []
        var joined: [WebImageLoadEvent.Stage] = []
        var download = Download()
        /// How long each took and was in line before, in nanoseconds.
        var decodes: [(width: Int, height: Int, nanoseconds: UInt64, waited: UInt64)] = []
        var transforms: [(key: String, nanoseconds: UInt64)] = []
        var stored: [(key: String, type: ImageCacheType)] = []
        var isNotModified = false
        var verdict: CacheVerdict?
        /// Where the picture came from that ended the phase, and when.
        var interim: (time: UInt64, source: ImageCacheType)?

        /// The last look at a key says what came of it.
        mutating func look(_ look: DiskLook) {
            diskLooks.removeAll { $0.key == look.key }
            diskLooks.append(look)
        }
    }

    var url: URL?
    var key = ""
    var phases = [Phase()]
    /// The last event, if it is one after which nothing comes.
    var end: WebImageLoadEvent.Kind?
    /// Of the last event.
    var time: UInt64 = 0
    private var queued: [WebImageLoadEvent.Stage: UInt64] = [:]

    init(_ events: [WebImageLoadEvent]) {
        for event in events { add(event) }
    }

    private mutating func add(_ event: WebImageLoadEvent) {
        url = event.url
        time = event.time
        let last = phases.count - 1
        switch event.kind {
        case .started(let key, _): self.key = key
        case .queued(.download): phases[last].download.add(event)
        case .queued(let stage): queued[stage] = time
        case .memoryHit(let key): phases[last].memoryHit = key
        case .memoryMissed(let reason): phases[last].memoryMiss = reason
        case .diskHit(let key, let count): phases[last].look(DiskLook(key: key, byteCount: count))
        case .diskMissed(let key, let reason): phases[last].look(DiskLook(key: key, reason: reason))
        case .joined(let stage): phases[last].joined.append(stage)
        case .stored(let key, let type): phases[last].stored.append((key, type))
        case .notModified: phases[last].isNotModified = true
        case .judged(let verdict): phases[last].verdict = verdict
        case .decoded(let width, let height, _, let nanoseconds):
            let begun = time > nanoseconds ? time - nanoseconds : 0
            let waited = queued[.decode].map { begun > $0 ? begun - $0 : 0 } ?? 0
            phases[last].decodes.append((width, height, nanoseconds, waited))
        case .transformed(let key, let nanoseconds): phases[last].transforms.append((key, nanoseconds))
        case .deliveredInterim(let source):
            phases[last].interim = (time, source)
            phases.append(Phase())
        case .delivered, .cancelled, .failed: end = event.kind
        default: phases[last].download.add(event)
        }
    }
}

extension LoadStory.Download {
    /// Nanoseconds until the request was sent, as far as that was not done at once.
    var waited: UInt64 {
        var waited: UInt64 = 0
        // Everybody gets in line for room, so what a busy machine takes to go on is not called waiting.
        if let queued, let asked, asked > queued, asked - queued >= 10_000_000 { waited += asked - queued }
        if let waiting, let sent, sent > waiting { waited += sent - waiting }
        return waited
    }

    fileprivate mutating func add(_ event: WebImageLoadEvent) {
        switch event.kind {
        case .queued: if asked == nil { queued = event.time } else if sent == nil { waiting = event.time }
        case .downloadStarted: asked = event.time
        case .requestSent: sent = sent ?? event.time
        case .firstByte(let response): self.response = (event.time, response)
        case .progress(let progress): self.progress = progress
        case .retried(let error, let seconds):
            retries.append((error, seconds))
            (response, progress) = (nil, nil)
        case .downloaded(let count, let metrics): end = (event.time, count, metrics)
        default: break
        }
    }
}
