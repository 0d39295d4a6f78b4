import FoundationEssentials
import Glibc
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageIsolation

/// Real workers, in virtual time.
@Suite(
    .tags(.threadSanitizer),
    .enabled(if: IsolationHarness.isSupported, "this system does not confine processes, or this is a sanitized build"),
    .timeLimit(.minutes(10))
)
struct WorkerPoolTests {
    private let delays = ManualClock()
    /// Not shared with other tests, whose workers would be killed or counted.
    private let hazards = NamedHazards()

    private func pool(_ change: (inout DecodeIsolation) -> Void = { _ in }) -> WorkerPool {
        WorkerPool(
            IsolationHarness.isolation { isolation in
                isolation.workerPath = hazards.path
                change(&isolation)
            },
            .sealed,
            clock: delays.source,
            delay: delays.delays
        )
    }

    /// Returns whether the image is correct; throws an error.
    private func decode(_ pool: WorkerPool, _ name: String = "picture", seconds: Double = 20) async throws -> Bool {
        try await valueOnThread { () -> Result<Bool, WebImageError> in
            do throws(WebImageError) {
                let task = IsolationTask.decode(ImageDecodeOptions())
                let (answer, pixels) = try pool.perform(task, .data(IsolationHarness.picture(name)), seconds: seconds)
                guard case .image = answer, let pixels else { return .success(false) }
                return .success(pixels.withUnsafeBytes { $0.prefix(64).elementsEqual((0..<64).map { UInt8($0) }) })
            } catch {
                return .failure(error)
            }
        }.get()
    }

    private func has(_ pool: WorkerPool, _ all: Int, _ idle: Int) -> Bool { pool.counts == (all, idle) }

    /// Waits until detached threads have done their work.
    private func settle(_ pool: WorkerPool, _ condition: @escaping @Sendable ((all: Int, idle: Int)) -> Bool) async
        -> Bool
    {
        await becomes { condition(pool.counts) }
    }

    @Test func `A worker is reused, and ends when it has been idle for long`() async throws {
        let pool = pool { $0.idleTime = 10 }
        #expect(try await decode(pool))
        #expect(try await decode(pool))
        #expect(has(pool, 1, 1))
        delays.advance(9)
        #expect(has(pool, 1, 1))
        delays.advance(2)
        #expect(await settle(pool) { $0.all == 0 })
        #expect(try await decode(pool))
    }

    @Test func `A worker has no root privileges, and is killed before this process when memory is low`() async throws {
        let pool = pool()
        #expect(try await decode(pool))
        let workers = hazards.workers
        #expect(!workers.isEmpty)
        for worker in workers {
            let status = try String(contentsOfFile: "/proc/\(worker)/status", encoding: .utf8)
            for field in ["CapEff", "CapPrm"] { #expect(status.contains("\(field):\t0000000000000000\n")) }
            let score = try String(contentsOfFile: "/proc/\(worker)/oom_score_adj", encoding: .utf8)
            #expect(score == "1000\n")
        }
    }

    @Test func `Use extends a worker's idle time`() async throws {
        let pool = pool { $0.idleTime = 10 }
        #expect(try await decode(pool))
        delays.advance(8)
        #expect(try await decode(pool))
        delays.advance(3)
        let delays = delays
        #expect(await settle(pool) { _ in delays.asked.count == 2 })
        #expect(has(pool, 1, 1))
        delays.advance(8)
        #expect(await settle(pool) { $0.all == 0 })
    }

    @Test func `After a number of decodes there is a new worker`() async throws {
        let pool = pool { ($0.maximumDecodeCount, $0.maximumWorkerCount) = (2, 1) }
        for _ in 0..<5 { #expect(try await decode(pool)) }
        #expect(await settle(pool) { $0.all == 1 })
    }

    @Test func `The maximum number of workers holds, and all waiting decodes get their turn`() async throws {
        let pool = pool { $0.maximumWorkerCount = 2 }
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<12 { group.addTask { try await self.decode(pool) } }
            for try await isRight in group { #expect(isRight) }
        }
        #expect(has(pool, 2, 2) || has(pool, 1, 1))
    }

    @Test func `A worker killed while idle causes no error`() async throws {
        let pool = pool { $0.maximumWorkerCount = 1 }
        #expect(try await decode(pool))
        #expect(hazards.workers.count == 1)
        for worker in hazards.workers { kill(worker, SIGKILL) }
        for _ in 0..<3 { #expect(try await decode(pool)) }
    }

    @Test func `A worker killed during a decode is an error, and the next image is decoded`() async throws {
        let pool = pool { $0.maximumWorkerCount = 1 }
        let spinning = Task { try await decode(pool, "spin", seconds: 100) }
        // It is in the middle of it once it has taken time; the start takes less.
        let hazards = hazards
        let busy: @Sendable () -> [pid_t] = { hazards.workers.filter { IsolationHarness.ticks($0) > 30 } }
        #expect(await settle(pool) { _ in !busy().isEmpty })
        for worker in busy() { kill(worker, SIGKILL) }
        let error = await #expect(throws: WebImageError.self) { try await spinning.value }
        #expect(error?.code == .decoderCrashed && error?.message.contains("SIGKILL") == true)
        #expect(try await decode(pool))
    }

    @Test func `A worker started ahead of time serves the first image`() async throws {
        let pool = pool()
        pool.prepare()
        #expect(await settle(pool) { $0 == (1, 1) })
        pool.prepare()
        let walls = try #require(pool.walls)
        #expect(walls.hasSeccomp && walls.threads == 1 && walls.version == WorkerSandbox.version && !walls.readsFonts)
        #expect(try await decode(pool))
        #expect(has(pool, 1, 1))
    }

    @Test func `Workers leave no process and no descriptor behind`() async throws {
        await #expect(processExitsWith: .success) {
            let suite = WorkerPoolTests()
            let pool = suite.pool { ($0.maximumWorkerCount, $0.maximumDecodeCount) = (1, 3) }
            var isRight = try await suite.decode(pool)
            #expect(isRight)
            let descriptors = IsolationHarness.descriptorCount
            for name in ["picture", "segfault", "picture", "exit", "picture", "passwd"] {
                _ = try? await suite.decode(pool, name)
            }
            isRight = try await suite.decode(pool)
            #expect(isRight)
            suite.delays.advance(100)
            #expect(await suite.settle(pool) { $0.all == 0 })
            #expect(IsolationHarness.descriptorCount < descriptors + 8)
        }
    }

    @Test func `Settings that differ only in formats and times share pools`() {
        var other = IsolationHarness.isolation()
        (other.formats, other.maximumDecodeDuration) = ([.svg], 1)
        let pool = WorkerPools.pool(IsolationHarness.isolation(), .sealed)
        #expect(WorkerPools.pool(other, .sealed) === pool)
        #expect(WorkerPools.pool(other, .fonts) !== pool)
        other.maximumMemoryByteCount = 1 << 20
        #expect(WorkerPools.pool(other, .sealed) !== pool)
    }

    @Test func `Times of NaN or infinity are replaced, and such decodes share workers, too`() {
        var isolation = IsolationHarness.isolation()
        (isolation.idleTime, isolation.maximumDecodeDuration) = (.nan, .nan)
        #expect(isolation.idleTime == 10 && isolation.maximumDecodeDuration == 0.01)
        #expect(isolation == isolation && isolation.hashValue == isolation.hashValue)
        #expect(WorkerPools.pool(isolation, .sealed) === WorkerPools.pool(isolation, .sealed))
        isolation.idleTime = -1
        #expect(isolation.idleTime == 0)
        isolation.idleTime = .infinity
        #expect(isolation.idleTime == .infinity)
    }
}
