import FoundationEssentials

/// The events of one load, grouped by topic.
struct LoadTimeline {
    /// A disk lookup of one key.
    struct DiskLook {
        var key: String
        /// The bytes of the entry; nil if none was found.
        var byteCount: Int?
        var reason: WebImageLoadEvent.MissReason?
    }

    /// The actions of a loader. Times are those of the events.
    struct Download {
        /// The times when it was queued for admission, and in a downloader's queue.
        var queued: UInt64?
        var waiting: UInt64?
        var asked: UInt64?
        var sent: UInt64?
        var response: (time: UInt64, value: HTTPResponse)?
        var retries: [(error: WebImageError, after: Double)] = []
        var progress: LoadProgress?
        var end: (time: UInt64, byteCount: Int, metrics: DownloadMetrics?)?
    }

    /// Everything up to a delivered image, or to the end.
    struct Phase {
        var memoryHit: String?
        var memoryMiss: WebImageLoadEvent.MissReason?
        var diskLooks: [DiskLook] = []
        var joined: [WebImageLoadEvent.Stage] = []
        var download = Download()
        /// The durations of each, and of its wait before, in nanoseconds.
        var decodes: [(width: Int, height: Int, nanoseconds: UInt64, waited: UInt64)] = []
        var transforms: [(key: String, nanoseconds: UInt64)] = []
        var stored: [(key: String, type: ImageCacheType)] = []
        var isNotModified = false
        var verdict: CacheVerdict?
        /// The source and time of the image that ended the phase.
        var interim: (time: UInt64, source: ImageCacheType)?

        /// Only the last lookup of a key counts.
        mutating func look(_ look: DiskLook) {
            diskLooks.removeAll { $0.key == look.key }
            diskLooks.append(look)
        }
    }

    var url: URL?
    var key = ""
    var phases = [Phase()]
    /// The last event, if it ends the load.
    var end: WebImageLoadEvent.Kind?
    /// The time of the last event.
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

extension LoadTimeline.Download {
    /// The nanoseconds of waiting until the request was sent.
    var waited: UInt64 {
        var waited: UInt64 = 0
        // Every download is queued for admission, so a short delay on a busy machine does not count as waiting.
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
