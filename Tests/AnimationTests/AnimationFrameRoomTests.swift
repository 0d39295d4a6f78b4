import CodecsTestSupport
import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageModel
@testable import WebImagePlayer
@testable import WebImageSupport

/// Frames of running animations within a memory budget.
@Suite struct AnimationFrameRoomTests {
    /// An animation whose frames take 640 000 bytes each, and its canvas as much; its threads run when the test says
    /// so.
    private struct World {
        let queue = WorkQueue(stepped: "test")
        let budget: DecodedMemoryBudget
        let pool: AnimationFramePool
        /// Another pool of the same decoder.
        let neighbour: AnimationFramePool
        let others = Lock<[MemoryReservation]>([])

        init() throws {
            let animation = try DrawnAnimation(count: 6, size: (400, 400)).animation
            budget = DecodedMemoryBudget(isProcessWide: false, queue: queue)
            budget.policy = .reject
            budget.byteLimit = 4 << 20
            let lane = AnimationLane(animation, queue: queue)
            pool = AnimationFramePool(animation, lane: lane, budget: budget)
            neighbour = AnimationFramePool(try AnimatedImage(provider: animation), lane: lane, budget: budget)
        }

        /// Requests all memory for another job.
        func takeAll() {
            let keep: @Sendable (DecodedMemoryBudget.Answer) -> Void = { [others] answer in
                if case .admitted(let reservation) = answer { others.withLock { $0.append(reservation) } }
            }
            let outcome = budget.request(4 << 20, priority: .normal, mayShrink: false, then: keep)
            if case .answered(let answer) = outcome { keep(answer) }
        }

        func wish(_ indices: [Int], isWaiting: Bool = false) {
            pool.wish(1, for: indices, isWaiting: isWaiting, byteLimit: 64 << 20)
        }

        /// Ends the admitted jobs.
        func end() {
            let ended = others.withLock { others in
                defer { others = [] }
                return others
            }
            for reservation in ended { reservation.end() }
        }
    }

    @Test func `A pending reservation is cancelled when nobody needs the frame`() throws {
        let world = try World()
        world.takeAll()
        world.wish([0])
        world.queue.runAll()
        #expect(world.budget.usage.waitingCount == 1 && world.pool.count == 0)
        world.pool.withdraw(1)
        #expect(world.budget.usage.waitingCount == 0)
        world.end()
        world.queue.runAll()
        #expect(world.budget.usage.inFlightByteCount == 0 && world.pool.count == 0)
    }

    @Test(arguments: [false, true])
    func `A reservation granted for a frame that nobody needs any more is returned`(isForgotten: Bool) throws {
        let world = try World()
        world.takeAll()
        world.wish([0])
        world.queue.runAll()
        world.end()
        // The answer has arrived, but the animation has not had its turn.
        #expect(world.budget.usage.inFlightByteCount > 1_000_000)
        if isForgotten { world.pool.forget(1) } else { world.pool.withdraw(1) }
        world.queue.runAll()
        #expect(world.budget.usage.inFlightByteCount == 0 && world.budget.usage.waitingCount == 0)
        world.takeAll()
        world.queue.runAll()
        #expect(world.others.withLock { $0.count } == 1, "others get it")
    }

    @Test func `A frame that becomes urgent while it waits for memory precedes other waiting ones`() throws {
        let world = try World()
        world.takeAll()
        world.takeAll()
        world.wish([0])
        world.queue.runAll()
        world.wish([0], isWaiting: true)
        world.queue.runAll()
        world.end()
        world.queue.runAll()
        #expect(world.pool.count == 1 && world.others.withLock { $0.isEmpty })
    }

    @Test func `A frame that waits for memory takes on the urgency of those behind it`() throws {
        let world = try World()
        world.takeAll()
        world.takeAll()
        world.wish([0])
        world.queue.runAll()
        world.neighbour.wish(2, for: [0], isWaiting: true, byteLimit: 64 << 20)
        world.end()
        world.queue.runAll()
        #expect(world.pool.count == 1 && world.neighbour.count == 1 && world.others.withLock { $0.isEmpty })
    }

    @Test func `A pool whose frame nobody needs any more leaves its turn to the next`() throws {
        let world = try World()
        world.takeAll()
        world.wish([0])
        world.queue.runAll()
        world.neighbour.wish(2, for: [0], isWaiting: false, byteLimit: 64 << 20)
        world.queue.runAll()
        #expect(world.budget.usage.waitingCount == 1, "one turn at a time")
        world.pool.withdraw(1)
        world.queue.runAll()
        #expect(world.budget.usage.waitingCount == 1, "the next one's")
        world.end()
        world.queue.runAll()
        #expect(world.pool.count == 0 && world.neighbour.count == 1)
    }

    @Test func `A frame without memory is skipped, and tried again in the next loop`() throws {
        let world = try World()
        world.budget.byteLimit = 1 << 10
        world.wish([0], isWaiting: true)
        world.queue.runAll()
        #expect(world.pool.contains(0) && world.pool.count == 0 && world.pool.decodedCount == 0)
        if case .failed = world.pool.use(0) {} else { Issue.record("nothing waits for it") }
        world.budget.byteLimit = 4 << 20
        world.wish([0], isWaiting: true)
        world.queue.runAll()
        #expect(world.pool.decodedCount == 1)
        if case .there = world.pool.use(0) {} else { Issue.record("there was room") }
    }

    @Test func `The decoder's canvas counts once, and is released with it`() throws {
        var world: World? = try World()
        let budget = try #require(world).budget
        world?.wish([0])
        world?.queue.runAll()
        let first = budget.usage
        #expect(first.inFlightByteCount == 0 && (1_280_000...1_400_000).contains(first.heldByteCount))
        world?.wish([0, 1])
        world?.queue.runAll()
        #expect((1_920_000...2_100_000).contains(budget.usage.heldByteCount))
        #expect(budget.usage.peakByteCount <= 4 << 20)
        world = nil
        #expect(budget.usage.heldByteCount == 0)
    }

    @Test func `Frames in memory need no reservation`() throws {
        let image = Image(bitmap: try .allocate(width: 400, height: 400, pixelFormat: .bgra8Premultiplied))
        let frames = (0..<3).map { _ in ImageFrame(image: image, duration: 0.1) }
        let sequence = try #require(ImageFrameSequence(frames: frames))
        #expect(sequence.frameNeed(atLeast: 1000).byteCount == 0 && sequence.frameNeed().keptByteCount == 0)
        #expect(try AnimatedImage(provider: sequence).frameNeed() == .nothing)
    }

    @Test func `Frames of an animation without a cost estimate count as drawn on a canvas`() throws {
        let still = Image(bitmap: try .allocate(width: 100, height: 100, pixelFormat: .rgb8))
        let need = AnimatedImage(provider: NumberedAnimation(count: 3), first: still).frameNeed()
        #expect(need.outputByteCount == 30_000 && need.keptByteCount >= 30_000)
        #expect(need.workingByteCount == 2 * need.keptByteCount)
        let greedy = FrameMemoryNeed(keptByteCount: .max, workingByteCount: .max, outputByteCount: .max)
        #expect(greedy.byteCount > 1 << 48 && greedy.byteCount < .max)
    }
}
