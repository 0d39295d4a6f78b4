import FoundationEssentials
import LoadingTestSupport
import ModelTestSupport
import WebImageLoading

extension WebImageLoadEvent.Kind {
    /// The event in a few words, without times.
    var words: String {
        switch self {
        case .started(let key, _): "started \(short(key))"
        case .memoryHit(let key): "memory hit \(short(key))"
        case .memoryMissed(let reason): "memory missed \(reason)"
        case .diskHit(let key, let count): "disk hit \(short(key)) \(count)"
        case .diskMissed(let key, let reason): "disk missed \(short(key)) \(reason)"
        case .joined(let stage): "joined \(stage)"
        case .queued(let stage): "queued \(stage)"
        case .downloadStarted: "asked"
        case .requestSent(let attempt): "sent \(attempt)"
        case .firstByte(let response): "response \(response.statusCode)"
        case .progress(let progress): "progress \(progress.receivedByteCount)"
        case .headerRead(let width, let height, _): "header \(width)x\(height)"
        case .retried(let error, let seconds): "retried \(error.code.rawValue) \(seconds)"
        case .downloaded(let count, _): "downloaded \(count)"
        case .judged(let verdict): "judged \(verdict.outcome)"
        case .notModified: "not modified"
        case .decoded(let width, let height, let count, _): "decoded \(width)x\(height) \(count)"
        case .transformed(let key, _): "transformed \(key)"
        case .stored(let key, let type): "stored \(short(key)) \(type)"
        case .deliveredInterim(let type): "interim \(type)"
        case .delivered(let type): "delivered \(type)"
        case .cancelled: "cancelled"
        case .failed(let error): "failed \(error.code.rawValue)"
        }
    }

    /// The part after the last slash.
    private func short(_ key: String) -> String { key.split(separator: "/").last.map(String.init) ?? "-" }
}

extension LoadRecording {
    /// The events in words, without those about queues, whose number is not guaranteed.
    var words: [String] { events.map(\.kind.words).filter { !$0.hasPrefix("queued") } }

    /// The number of ends of each load.
    var ends: [UInt64: Int] { events.reduce(into: [:]) { $0[$1.loadID, default: 0] += $1.kind.isEnd ? 1 : 0 } }

    /// Returns whether all observed loads end within seconds: a load has ended for its manager a moment before its
    /// observers are notified.
    func becomesOver() async -> Bool {
        await becomes { Set(events.map(\.loadID)).count == ends.values.count { $0 > 0 } }
    }

    /// Returns whether every load began with its start, ended once, had no events after that, and never went back in
    /// time.
    var isOrderly: Bool {
        var last: [UInt64: WebImageLoadEvent] = [:]
        for event in events {
            if let former = last[event.loadID] {
                guard !former.kind.isEnd, event.time >= former.time else { return false }
            } else if case .started = event.kind {
            } else {
                return false
            }
            last[event.loadID] = event
        }
        return last.values.allSatisfy { $0.kind.isEnd }
    }
}
