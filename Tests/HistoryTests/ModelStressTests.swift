import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageCache
@testable import WebImageLoading

/// The histories of ``ModelTests`` on real queues, from four threads at once: 300, fewer where `WEBIMAGE_MODEL_SEEDS`
/// is small.
@Suite(.tags(.threadSanitizer)) struct ModelStressTests {
    @Test func `Callers on four threads get one right end each, and nothing is left running`() async throws {
        let directory = TemporaryDirectory()
        let seeds = ProcessInfo.processInfo.environment["WEBIMAGE_MODEL_SEEDS"].flatMap { UInt64($0) } ?? 10_000
        for seed in 0..<min(300, seeds * 3 / 5) {
            let world = StressWorld(ModelHistory(seed: seed), directory: directory.path)
            for part in world.history.parts {
                let ended = EventCounter()
                for first in 0..<4 {
                    startThread {
                        world.perform(part, from: first, every: 4)
                        ended.signal()
                    }
                }
                await ended.wait(for: 4)
                try #require(await world.settles(), "seed \(seed) does not come to its end: \(world.state)")
                await world.checkLimits()
            }
            world.checkEnd()
            let complaints = world.callers.withLock { $0.complaints }
            try #require(complaints.isEmpty, "\(complaints)")
        }
    }
}

extension ModelHistory {
    /// The operations, divided where everything is to come to its end.
    fileprivate var parts: [ArraySlice<ModelStep>] {
        steps.split { step in
            switch step.operation {
            case .settle, .drain: true
            default: false
            }
        }
    }
}

extension StressWorld {
    /// Lets everything come to its end, including the items of a suspended prefetcher. Returns whether it does.
    func settles() async -> Bool {
        let isSuspended = prefetcher.isSuspended
        prefetcher.isSuspended = false
        defer { prefetcher.isSuspended = isSuspended }
        return await becomesQuiet()
    }

    /// Records an issue when memory or disk hold more than the configuration allows, while nothing is running.
    func checkLimits() async {
        let config = cache.config
        if let memory = cache.memoryCache as? MemoryCache {
            if config.maxMemoryCost > 0, memory.totalCost > config.maxMemoryCost { complain("memory over its limit") }
            if config.maxMemoryCount > 0, memory.count > config.maxMemoryCount { complain("too many in memory") }
        }
        guard config.maxDiskSize > 0 else { return }
        // A limit on the disk is enforced by stores: a changed one by later stores. Entries that several threads
        // removed while one of them walked through the directory may be counted wrong until the next walk, a quarter of
        // the limit later.
        let waits = callers.withLock { callers in
            defer { callers.hasNewLimit = false }
            return callers.hasNewLimit ? 0 : 1
        }
        var isKept = await diskBecomesSmall(config.maxDiskSize, seconds: waits)
        let block = 4096
        for number in 0...config.maxDiskSize / 4 / block + 1 where !isKept {
            cache.storeDataToDisk(Data([1]), forKey: "one more \(number)")
            isKept = allocatedSize <= config.maxDiskSize
        }
        isKept = await diskBecomesSmall(config.maxDiskSize, seconds: 10)
        if !isKept { complain("\(allocatedSize) bytes on disk, \(config.maxDiskSize) are allowed") }
    }

    /// Returns whether the disk holds no more than that soon: threads of the cache continue for a moment with a store's
    /// remaining work.
    private func diskBecomesSmall(_ size: Int, seconds: Int) async -> Bool {
        await becomes(seconds: Double(seconds)) { allocatedSize <= size }
    }

    /// The space of the entries on disk, in blocks of the file system, as the limit counts it.
    private var allocatedSize: Int {
        var size = 0
        DirectoryScan(path: cache.diskCachePath).forEachEntry { _, status in
            size += status.allocatedSize
            return true
        }
        return size
    }

    /// Returns whether everything comes to its end within half a minute: threads release their objects a little after
    /// the last completion, without a notification.
    func becomesQuiet() async -> Bool {
        guard await becomes({ isQuiet }) else { return false }
        await cache.flush()
        return true
    }

    private var isQuiet: Bool {
        let isDelivered = callers.withLock { callers in
            callers.loads.allSatisfy(\.isOver) && callers.calls >= callers.expectedCalls
                && callers.prefetches.count >= callers.tokens.count
        }
        let pipeline = manager.pipeline
        return isDelivered && !manager.isRunning && server.transferCount == 0
            && pipeline.runningCount + pipeline.waitingCount + pipeline.gate.reservedByteCount == 0
            && runningQueries == 0 && cache.writes.withLock { $0.isIdle }
            && prefetcher.runningCount + prefetcher.waitingCount == 0 && areOperationsGone
    }

    private var runningQueries: Int { callers.withLock { $0.queries.count { $0.token != nil } } }

    /// Returns whether only the callers hold operations.
    private var areOperationsGone: Bool {
        callers.withLock { callers in
            callers.held = []
            return callers.loads.allSatisfy { load in load.state.withLock { $0.operation == nil } }
        }
    }

    /// The running work.
    var state: String {
        let (loads, calls) = callers.withLock {
            ($0.loads.filter { !$0.isOver }.map(\.spec), ($0.calls, $0.expectedCalls))
        }
        let pipeline = manager.pipeline
        return """
            loads \(loads), calls \(calls), work \(pipeline.runningCount), waiting \(pipeline.waitingCount), \
            gate \(pipeline.gate.reservedByteCount), transfers \(server.transferCount), \
            queries \(runningQueries), prefetches \(prefetcher.runningCount) \(prefetcher.waitingCount)
            """
    }

    func checkEnd() {
        let (loads, counts) = callers.withLock { callers in
            (callers.loads, (callers.calls, callers.expectedCalls, callers.prefetches.count, callers.tokens.count))
        }
        for load in loads {
            let state = load.state.withLock { ($0.interimCount, $0.finalCount) }
            let isRefresh = load.spec.options.contains(.refreshCached)
            let isRight = isRefresh ? state.0 <= 1 && state.1 <= 1 && state.0 + state.1 > 0 : state == (0, 1)
            if !isRight { complain("\(load.spec) delivers \(state)") }
        }
        if counts.0 != counts.1 { complain("\(counts.0) of \(counts.1) completions") }
        if counts.2 != counts.3 { complain("\(counts.2) of \(counts.3) lists end") }
        for progress in callers.withLock({ $0.prefetches }) where !progress.isCancelled && !progress.isComplete {
            complain("a list ends with \(progress)")
        }
        checkCaches()
    }

    private func checkCaches() {
        for url in 0..<history.setup.urlCount {
            for variant in ModelVariant.all {
                let key = ModelKeys.key(url, variant)
                if let image = cache.memoryImage(forKey: key) {
                    check(ModelImage(image), url, variant, allowsLimit: true)
                }
                guard let data = cache.diskData(forKey: key) else { continue }
                if let picture = ModelImage(data) {
                    check(picture, url, variant, allowsLimit: false)
                } else if data != ModelImage.badData(url) || variant != .original {
                    complain("\(key) on disk is not an image")
                }
            }
        }
    }
}
