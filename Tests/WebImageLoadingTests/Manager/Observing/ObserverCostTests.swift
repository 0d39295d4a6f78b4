import FoundationEssentials
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageHTTP
@testable import WebImageLoading

/// The cost of observing for unobserved loads.
@Suite struct ObserverCostTests {
    /// Heap allocations and clock readings of a thousand loads that find their image in memory.
    private static func costs() async throws -> [String: (blocks: Int, readings: Int)] {
        let directory = TemporaryDirectory()
        let run = try await ProgramRun.run(ProgramRun.product("heap-program"), ["hit-cost", directory.path])
        #expect(run.status == 0, "\(run.errors)")
        return run.lines.reduce(into: [:]) { costs, line in
            let words = line.split(separator: " ")
            guard words.count == 3, let blocks = Int(words[1]), let readings = Int(words[2]) else { return }
            costs[String(words[0])] = (blocks, readings)
        }
    }

    @Test func `A memory hit without an observer allocates no more than before observers existed, and reads no clock`()
        async throws
    {
        let costs = try await Self.costs()
        // Six allocations each, as before loads could be observed: operation, lock, two closures of the end, and the
        // list of running loads. The cache's own bookkeeping, done for many hits at a time, takes a few more.
        for name in ["before", "after", "last"] {
            let cost = try #require(costs[name])
            #expect(cost.blocks / 1000 <= 6, "\(name): \(cost)")
            #expect(cost.readings == 0)
        }
        let observed = try #require(costs["observed"])
        #expect(observed.readings > 0 && observed.blocks > 7000, "the counters count")
    }

    @Test func `A whole load without an observer makes no event and reads no clock`() async {
        let clock = CountingClock()
        let loader = FakeLoader { _ in .success("picture") }
        let manager = WebImageManager(
            cache: FakeCache(),
            loader: loader,
            pipeline: Pipeline(clock: clock.source),
            clock: clock.source
        )
        var context = WebImageContext()
        context.imageCoder = PlainCoder()
        context.callbackQueue = .inline
        for number in 0..<20 {
            let outcome = Outcome()
            manager.loadImage(with: URL(string: "http://host/\(number % 10)"), context: context) { outcome.record($0) }
            _ = await outcome.value()
        }
        #expect(clock.readings == 0 && !manager.pipeline.isObserved)
    }

    @Test func `No event is made while nobody observes`() {
        let pipeline = Pipeline()
        let made = Lock(0)
        func event() -> WebImageLoadEvent.Kind {
            made.withLock { $0 += 1 }
            return .downloadStarted
        }
        let job = WorkJob(
            DiskReadWork(cache: FakeCache(), cacheKey: "a").key,
            priority: .normal,
            pipeline: pipeline
        )
        job.note(event())
        job.trace.note(event())
        LoadTrace(nil, of: pipeline).note(event())
        #expect(made.withLock { $0 } == 0)
        let recording = LoadRecording()
        let observation = LoadObservation([recording], url: nil, options: [], pipeline: pipeline)
        job.note(event())
        LoadTrace(observation, of: pipeline).note(event())
        #expect(made.withLock { $0 } == 2 && recording.words == ["started -", "asked"])
        observation.end(.cancelled)
        job.note(event())
        #expect(made.withLock { $0 } == 2)
    }

    @Test func `An observation released without an end does not cost other loads`() {
        let pipeline = Pipeline()
        do {
            let observation = LoadObservation([LoadRecording()], url: nil, options: [], pipeline: pipeline)
            #expect(pipeline.isObserved)
            observation.note(.downloadStarted)
        }
        #expect(!pipeline.isObserved)
        let ended = LoadObservation([LoadRecording()], url: nil, options: [], pipeline: pipeline)
        ended.end(.cancelled)
        ended.end(.failed(.cancelled()))
        #expect(!pipeline.isObserved, "an end counts once")
        withExtendedLifetime(ended) {}
    }

    @Test func `Observers are released when they are no longer needed`() async {
        let harness = ManagerHarness.answering()
        weak var gone: LoadRecording?
        do {
            let recording = LoadRecording()
            gone = recording
            let context = harness.context { $0.observer = recording }
            _ = await harness.start(context: context).outcome.value()
        }
        #expect(await harness.manager.pipeline.becomesIdle())
        #expect(gone == nil)
    }
}

private final class CountingClock: Sendable {
    private let count = Lock(0)
    var readings: Int { count.withLock { $0 } }
    var source: ClockSource {
        ClockSource(
            wallTime: { 0 },
            monotonicNanoseconds: {
                self.count.withLock { count in
                    count += 1
                    return UInt64(count)
                }
            }
        )
    }
}
