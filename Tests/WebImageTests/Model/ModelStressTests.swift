import FoundationEssentials
import TestSupport
import Testing

@testable import WebImage

/// The histories of ``ModelTests`` on real queues, from four threads at once.
@Suite struct ModelStressTests {
    @Test func `Callers on four threads get one right end each, and nothing is left running`() async throws {
        let directory = TemporaryDirectory()
        for seed in UInt64(0)..<300 {
            let world = StressWorld(ModelHistory(seed: seed), directory: directory.path)
            let ended = EventCounter()
            for first in 0..<4 {
                startThread {
                    world.perform(from: first, every: 4)
                    ended.signal()
                }
            }
            await ended.wait(for: 4)
            world.prefetcher.isSuspended = false
            let isOver = await world.becomesQuiet()
            world.checkEnd()
            let complaints = world.callers.withLock { $0.complaints }
            try #require(isOver, "seed \(seed) does not come to its end: \(world.state)")
            try #require(complaints.isEmpty, "\(complaints)")
        }
    }
}

extension StressWorld {
    /// Whether everything comes to its end within half a minute: threads let go of what they hold a little after the last
    /// completion, which nothing tells.
    func becomesQuiet() async -> Bool {
        let deadline = ContinuousClock.now + .seconds(30)
        while !isQuiet {
            if ContinuousClock.now > deadline { return false }
            await Task.yield()
        }
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
            && cache.reads.count + cache.decodes.count == 0 && cache.backlog.withLock { $0.isIdle }
            && prefetcher.runningCount + prefetcher.waitingCount == 0 && areOperationsGone
    }

    /// Whether nobody holds an operation any more but the callers.
    private var areOperationsGone: Bool {
        callers.withLock { callers in
            callers.held = []
            return callers.loads.allSatisfy { load in load.state.withLock { $0.operation == nil } }
        }
    }

    /// What is still under way.
    var state: String {
        let (loads, calls) = callers.withLock {
            ($0.loads.filter { !$0.isOver }.map(\.spec), ($0.calls, $0.expectedCalls))
        }
        let pipeline = manager.pipeline
        return """
            loads \(loads), calls \(calls), work \(pipeline.runningCount), waiting \(pipeline.waitingCount), \
            gate \(pipeline.gate.reservedByteCount), transfers \(server.transferCount), reads \(cache.reads.count), \
            decodes \(cache.decodes.count), prefetches \(prefetcher.runningCount) \(prefetcher.waitingCount)
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
        let config = cache.config
        if let memory = cache.memoryCache as? MemoryCache {
            if config.maxMemoryCost > 0, memory.totalCost > config.maxMemoryCost { complain("memory over its limit") }
            if config.maxMemoryCount > 0, memory.count > config.maxMemoryCount { complain("too many in memory") }
        }
        if config.maxDiskSize > 0, cache.totalDiskSize > config.maxDiskSize { complain("disk over its limit") }
        for url in 0..<history.setup.urlCount {
            for variant in ModelVariant.all {
                let key = ModelKeys.key(url, variant)
                if let image = cache.memoryImage(forKey: key) {
                    check(ModelPicture(image), url, variant, allowsLimit: true)
                }
                guard let data = cache.diskData(forKey: key) else { continue }
                if let picture = ModelPicture(data) {
                    check(picture, url, variant, allowsLimit: false)
                } else if data != ModelPicture.badData(url) || variant != .original {
                    complain("\(key) on disk is no picture")
                }
            }
        }
    }
}
