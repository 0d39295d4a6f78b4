import BenchSupport
import FoundationEssentials
import Glibc
import WebImage
import WebImageFleet

/// Loads at a steady rate, each of a thumbnail that neither this machine nor the store has, while the store fails and comes back. A third
/// of the loads are those of a manager without a store.
///
/// The lines of standard input say what happens: `fault` just before the store fails, `repaired` when it can be used again, and `end`.
final class FaultLoad: @unchecked Sendable {
    // Sendable because `samples` and `failures` are used with `mutex` held, and the rest only by the thread that runs the loads.
    private let cache: TieredImageCache
    private let manager: WebImageManager
    private let other: WebImageManager
    private let origin: String
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private var samples: [(start: Double, seconds: Double, usesStore: Bool)] = []
    private var failures = 0
    private var begun = 0
    private var marks: [String: Double] = [:]
    /// The number of queries that the store had answered when it was repaired.
    private var answersBefore = 0
    private var usedAt: Double?

    /// - Parameter origin: the URL of an image, to which a number is added.
    init(_ cache: TieredImageCache, withoutStore: ImageCache, origin: String) {
        self.cache = cache
        self.origin = origin
        manager = WebImageManager(cache: cache)
        other = WebImageManager(cache: withoutStore)
        pthread_mutex_init(mutex, nil)
    }

    /// Loads until the line `end`, and reports.
    func run(rate: Double) {
        // Connections and threads.
        let start = Measurement.now() + 1
        var next = Measurement.now()
        while marks["end"] == nil {
            if let line = line(before: next) { mark(line) }
            if marks["repaired"] != nil, usedAt == nil, answers > answersBefore { usedAt = Measurement.now() }
            guard Measurement.now() >= next else { continue }
            load()
            next += 1 / rate
        }
        while pthread_mutex_lock(mutex) == 0, samples.count + failures < begun {
            pthread_mutex_unlock(mutex)
            usleep(10_000)
        }
        pthread_mutex_unlock(mutex)
        report(from: start)
    }

    private func load() {
        begun += 1
        let usesStore = begun % 3 > 0
        var context = WebImageContext()
        context.callbackQueue = .inline
        context.thumbnailPixelSize = ImageSize(width: 100, height: 100)
        let start = Measurement.now()
        (usesStore ? manager : other).loadImage(with: URL(string: "\(origin)?\(begun)"), context: context) {
            [self] result in
            let seconds = Measurement.now() - start
            pthread_mutex_lock(mutex)
            if case .success = result { samples.append((start, seconds, usesStore)) } else { failures += 1 }
            pthread_mutex_unlock(mutex)
        }
    }

    /// The queries to which the store has replied that it has nothing.
    private var answers: Int {
        let statistics = cache.statistics
        return statistics.missCount - statistics.failureCount
    }

    /// Waits for a line of standard input, until that time.
    private func line(before end: Double) -> String? {
        var input = pollfd(fd: 0, events: Int16(POLLIN), revents: 0)
        if poll(&input, 1, Int32(max(end - Measurement.now(), 0) * 1000)) == 1 { return readLine() ?? "end" }
        // What is less than a millisecond.
        usleep(UInt32(max(end - Measurement.now(), 0) * 1e6))
        return nil
    }

    private func mark(_ line: String) {
        marks[line] = Measurement.now()
        if line == "repaired" { answersBefore = answers }
    }

    private func report(from start: Double) {
        guard let fault = marks["fault"], let repaired = marks["repaired"], let end = marks["end"] else {
            Measurement.stop("a line is missing")
        }
        for (name, phase) in [("before", start..<fault), ("first", fault..<fault + 1), ("open", fault + 1..<repaired)] {
            for usesStore in [true, false] {
                let name = usesStore ? name : name + "-without"
                let loads = samples.filter { phase.contains($0.start) && $0.usesStore == usesStore }
                let times = loads.map(\.seconds).sorted()
                guard !times.isEmpty else { Measurement.stop("no load in the phase '\(name)'") }
                Measurement.report("\(name)-median", times[times.count / 2] * 1e3, "ms")
                Measurement.report("\(name)-p99", times[times.count * 99 / 100] * 1e3, "ms")
                Measurement.report("\(name)-count", Double(times.count), "loads")
            }
        }
        Measurement.report("return", (usedAt ?? end) - repaired, "s")
        Measurement.report("errors", Double(failures), "loads")
    }
}
