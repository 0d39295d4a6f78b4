import Glibc
import ModelTestSupport
import TestSupport
import Testing
import WebImage

/// Histories of random operations, each compared with the reference model.
///
/// `WEBIMAGE_MODEL_SEEDS` says how many (10 000 by default), `WEBIMAGE_MODEL_SEED` names a single one. A history is the
/// same in every run of one process, and in every process with `SWIFT_DETERMINISTIC_HASHING=1`.
@Suite(.tags(.threadSanitizer)) struct ModelTests {
    @Test func `Loads and cancellations behave as the model allows`() async {
        await check(seeds: Self.seeds(from: 1_000_000, share: 20), kinds: .loadsAndCancels)
    }

    @Test func `Operations in any order behave as the model allows`() async {
        await check(seeds: Self.seeds(from: 0, share: 1), kinds: .all)
    }

    /// The second time the thread is moved between processors, as on a busy machine.
    @Test func `A seed gives the same history in every run`() async {
        for seed in TestEffort.some(of: UInt64(0)..<50) {
            let history = ModelHistory(seed: seed)
            let (first, second) = (SteppedWorld(history), SteppedWorld(history))
            await onThread {
                let count = sysconf(Int32(_SC_NPROCESSORS_ONLN))
                var random = SeededGenerator(seed: seed)
                first.run()
                second.stepper.between = { moveThread(toProcessor: random.below(count)) }
                second.run()
            }
            #expect(first.model.digest == second.model.digest, "seed \(seed)")
            #expect(first.stepper.stepCount == second.stepper.stepCount, "seed \(seed)")
        }
    }

    @Test(arguments: ModelMutant.allCases)
    func `A fault in a double is detected`(mutant: ModelMutant) {
        let found = (UInt64(0)..<200).first { SteppedWorld(ModelHistory(seed: $0), mutant: mutant).run() != nil }
        #expect(found != nil, "\(mutant)")
    }

    @Test func `A failing history is shrunk to its cause`() throws {
        func fails(_ history: ModelHistory) -> Bool { SteppedWorld(history, mutant: .doubleCompletion).run() != nil }
        let seed = try #require((UInt64(0)..<200).first { fails(ModelHistory(seed: $0)) })
        let shrunk = ModelHistory(seed: seed).shrunk(fails)
        #expect(shrunk.steps.count <= 4)
    }

    // MARK: Running seeds

    private static func number(_ name: String) -> UInt64? {
        getenv(name).flatMap { UInt64(String(cString: $0)) }
    }

    private static func seeds(from first: UInt64, share: UInt64) -> [UInt64] {
        if let seed = number("WEBIMAGE_MODEL_SEED") { return [seed] }
        let count = (number("WEBIMAGE_MODEL_SEEDS") ?? 10_000) / share
        return Array(first..<(first + count))
    }

    /// Runs histories on two threads, and reports the first that fails.
    private func check(seeds: [UInt64], kinds: ModelHistory.Kinds) async {
        let next = Lock(0)
        let failed = Lock<[UInt64]>([])
        let threads = 2
        let ended = EventCounter()
        for _ in 0..<threads {
            startThread {
                while let seed = next.withLock({ next -> UInt64? in
                    guard next < seeds.count else { return nil }
                    next += 1
                    return seeds[next - 1]
                }) {
                    guard SteppedWorld(ModelHistory(seed: seed, kinds: kinds)).run() != nil else { continue }
                    failed.withLock { $0.append(seed) }
                    next.withLock { $0 = seeds.count }
                }
                ended.signal()
            }
        }
        await ended.wait(for: threads)
        if let seed = failed.withLock({ $0.min() }) { Issue.record(Comment(rawValue: Self.report(seed, kinds))) }
    }

    /// The error, and the shortest history that leads to it.
    private static func report(_ seed: UInt64, _ kinds: ModelHistory.Kinds) -> String {
        let shrunk = ModelHistory(seed: seed, kinds: kinds).shrunk { SteppedWorld($0).run() != nil }
        let world = SteppedWorld(shrunk)
        world.model.keepsWords = true
        let failure = world.run() ?? "nothing, when it was run again"
        return """
            seed \(seed): \(failure)
            \(shrunk.setup)
            \(shrunk.steps.map { "  \($0)" }.joined(separator: "\n"))
            what happened:
            \(world.model.words.map { "  \($0)" }.joined(separator: "\n"))
            """
    }
}
