import FoundationEssentials
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageLoading

@Suite(.tags(.threadSanitizer)) struct LoadEventsConcurrencyTests {
    /// Counts instead of storing.
    private final class Tally: WebImageLoadObserver {
        struct State {
            var ends: [UInt64: Int] = [:]
            var times: [UInt64: UInt64] = [:]
            var running: Set<UInt64> = []
            var problems: [String] = []
        }
        let state = Lock(State())

        func loadDid(_ event: WebImageLoadEvent) {
            state.withLock { state in
                let id = event.loadID
                if !state.running.insert(id).inserted { state.problems.append("two calls at a time for \(id)") }
                if state.ends[id] != nil { state.problems.append("\(event.kind.words) after the end of \(id)") }
                if event.time < state.times[id] ?? 0 { state.problems.append("back in time: \(event.kind.words)") }
                state.times[id] = event.time
            }
            state.withLock { state in
                state.running.remove(event.loadID)
                if event.kind.isEnd { state.ends[event.loadID, default: 0] += 1 }
            }
        }
    }

    @Test func `Ten thousand loads, half of them cancelled, have one end each and no events after it`() async {
        let harness = ManagerHarness.answering()
        let tally = Tally()
        harness.manager.observer = tally
        let count = 4 * TestEffort.rounds(2500)
        let outcomes = await withTaskGroup(of: [Outcome].self) { group in
            for thread in 0..<4 {
                group.addTask {
                    (0..<count / 4).map { number in
                        // A few URLs, so that loads join each other.
                        let url = URL(string: "http://host/\((number * 7 + thread) % 50)")
                        let context = number % 3 == 0 ? harness.thumbnail(number % 4 + 1) : harness.context()
                        let options: WebImageOptions = number % 5 == 0 ? .fromLoaderOnly : []
                        let (operation, outcome) = harness.start(url, options: options, context: context)
                        if number % 2 == 0 { operation.cancel() }
                        return outcome
                    }
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        for outcome in outcomes { _ = await outcome.value() }
        #expect(await harness.manager.pipeline.becomesIdle())
        // Another thread may be telling the observer of an earlier event of the load.
        #expect(await becomes { tally.state.withLock { $0.ends.count == $0.times.count } })
        let state = tally.state.withLock { $0 }
        #expect(state.problems.isEmpty, "\(state.problems.prefix(5))")
        #expect(state.ends.count == count && state.ends.values.allSatisfy { $0 == 1 })
        #expect(!harness.manager.pipeline.isObserved)
        let statistics = harness.manager.statistics
        #expect(statistics.loads == count && statistics.runningLoads == 0)
        #expect(statistics.delivered + statistics.failed + statistics.cancelled == count)
        #expect(statistics.runningDownloads == 0 && statistics.runningWorks == 0)
    }

    @Test func `Observers that come and go while loads run get whole loads or none`() async {
        let harness = ManagerHarness.answering()
        let tally = Tally()
        let isOver = Lock(false)
        let stopped = EventCounter()
        startThread {
            while !isOver.withLock({ $0 }) {
                harness.manager.observer = tally
                harness.manager.observer = nil
            }
            stopped.signal()
        }
        let outcomes = (0..<TestEffort.rounds(3000)).map {
            harness.start(URL(string: "http://host/\($0 % 20)"), options: .fromLoaderOnly).outcome
        }
        for outcome in outcomes { _ = await outcome.value() }
        isOver.withLock { $0 = true }
        await stopped.wait(for: 1)
        #expect(await harness.manager.pipeline.becomesIdle())
        // Another thread may be telling the observer of an earlier event of the load.
        #expect(await becomes { tally.state.withLock { $0.ends.count == $0.times.count } })
        let state = tally.state.withLock { $0 }
        #expect(state.problems.isEmpty, "\(state.problems.prefix(5))")
        #expect(state.ends.count == state.times.count && state.ends.values.allSatisfy { $0 == 1 })
        #expect(!harness.manager.pipeline.isObserved)
    }
}
