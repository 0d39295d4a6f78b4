import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImageLoading

@testable import WebImageModel
@testable import WebImageSupport

/// A budget whose jobs run when the test says so.
private struct Bench {
    let queue = WorkQueue(stepped: "test")
    let budget: DecodedMemoryBudget
    let log = Lock<[String]>([])
    let kept = Lock<[MemoryReservation]>([])

    init(_ byteLimit: Int, policy: DecodedMemoryBudget.Policy = .reject) {
        budget = DecodedMemoryBudget(isProcessWide: false, queue: queue)
        budget.policy = policy
        budget.byteLimit = byteLimit
    }

    var seen: [String] { log.withLock { $0 } }

    /// Requests bytes; granted reservations are kept in `kept` until the test releases them.
    func ask(_ bytes: Int, _ name: String, priority: LoadPriority = .normal) -> any RunningWork {
        queue.submit(cost: .bytes(bytes), of: budget, priority: priority) { [log, kept, budget] result in
            switch result {
            case .success:
                log.withLock { $0.append("in \(name)") }
                let reservation = MemoryReservation.current(of: budget)?.handOver()
                if let reservation { kept.withLock { $0.append(reservation) } }
            case .failure(let error):
                log.withLock { $0.append("out \(name) \(error.limit?.required ?? 0)") }
            }
        }
    }
}

/// Keeps images, and releases them one by one when asked for memory.
private final class Shelf: PixelHolder {
    let images: Lock<[Image]>

    init(_ images: [Image]) { self.images = Lock(images) }

    func makeRoom(_ missing: () -> Int) { while missing() > 0, images.withLock({ $0.popLast() }) != nil {} }
}

@Suite(.tags(.threadSanitizer, .addressSanitizer)) struct DecodedMemoryBudgetTests {
    private func image(_ side: Int) throws -> Image {
        Image(bitmap: try .allocate(width: side, height: side, pixelFormat: .bgra8Premultiplied))
    }

    @Test func `A budget is unlimited until it has a limit`() throws {
        let bench = Bench(0)
        _ = bench.ask(.max, "a")
        bench.queue.runAll()
        #expect(bench.seen == ["in a"] && bench.kept.withLock { $0.isEmpty })
        bench.budget.hold(try image(100))
        #expect(bench.budget.usage == DecodedMemoryBudget.Usage())
        #expect(!DecodedMemoryBudget.shared.isOn && WebImageManager().memoryBudget === DecodedMemoryBudget.shared)
    }

    @Test func `A waiting job holds no thread, and runs when another one ends`() {
        let bench = Bench(1 << 20)
        _ = bench.ask(800 << 10, "a")
        _ = bench.ask(500 << 10, "b")
        bench.queue.runAll()
        #expect(bench.seen == ["in a"] && bench.budget.usage.waitingCount == 1 && bench.queue.waitingCount == 0)
        bench.kept.withLock { $0.removeFirst() }.end()
        bench.queue.runAll()
        #expect(bench.seen == ["in a", "in b"] && bench.budget.usage.inFlightByteCount == 500 << 10)
    }

    @Test func `A dropped reservation is returned`() {
        let bench = Bench(1 << 20)
        _ = bench.ask(800 << 10, "a")
        _ = bench.ask(500 << 10, "b")
        bench.queue.runAll()
        bench.kept.withLock { $0 = [] }
        bench.queue.runAll()
        #expect(bench.seen == ["in a", "in b"])
    }

    @Test func `A job cancelled while waiting never runs, and the next one is admitted`() {
        let bench = Bench(1 << 20)
        _ = bench.ask(600 << 10, "a")
        let second = bench.ask(900 << 10, "b")
        _ = bench.ask(300 << 10, "c")
        bench.queue.runAll()
        #expect(bench.seen == ["in a"])
        second.cancel()
        bench.queue.runAll()
        #expect(bench.seen == ["in a", "in c"] && bench.budget.usage.waitingCount == 0)
        second.cancel()
    }

    @Test func `Prefetches wait behind visible images, until they become visible themselves`() {
        let bench = Bench(1 << 20)
        _ = bench.ask(1 << 20, "first")
        let low = bench.ask(1 << 20, "low", priority: .low)
        _ = bench.ask(1 << 20, "normal")
        bench.queue.runAll()
        bench.kept.withLock { $0 = [] }
        bench.queue.runAll()
        #expect(bench.seen == ["in first", "in normal"])
        _ = bench.ask(1 << 20, "later")
        low.setPriority(.high)
        bench.queue.runAll()
        bench.kept.withLock { $0 = [] }
        bench.queue.runAll()
        #expect(bench.seen == ["in first", "in normal", "in low"])
    }

    @Test func `Pixels count as long as they exist, and once however many images share them`() throws {
        let bench = Bench(1 << 20)
        var first: Image? = try image(100)
        var second: Image? = first?.with(scale: 2)
        if let first { bench.budget.hold(first) }
        if let second { bench.budget.hold(second) }
        let held = bench.budget.usage.heldByteCount
        #expect((40_000...48_000).contains(held))
        first = nil
        #expect(bench.budget.usage.heldByteCount == held && second != nil)
        second = nil
        #expect(bench.budget.usage.heldByteCount == 0 && bench.budget.usage.peakByteCount == held)
    }

    @Test func `A decode's actual cost replaces its reservation`() throws {
        let bench = Bench(1 << 20)
        _ = bench.ask(900 << 10, "a")
        bench.queue.runAll()
        let image = try image(100)
        let first = bench.kept.withLock { $0.removeFirst() }
        first.hold(image)
        first.end()
        let usage = bench.budget.usage
        #expect(usage.inFlightByteCount == 0 && (40_000...48_000).contains(usage.heldByteCount))
        withExtendedLifetime(image) {}
    }

    @Test func `Images of an attached cache are evicted before any job waits, and displayed ones free nothing`() throws
    {
        let directory = TemporaryDirectory()
        let cache = ImageCache(directory: directory.path)
        let bench = Bench(1 << 20)
        bench.budget.attach(cache)
        bench.budget.attach(cache)
        let shown = try image(200)
        bench.budget.hold(shown)
        cache.storeToMemory(shown, forKey: "shown")
        for number in 0..<5 {
            let image = try image(180)
            bench.budget.hold(image)
            cache.storeToMemory(image, forKey: "\(number)")
        }
        _ = bench.ask(700 << 10, "a")
        bench.queue.runAll()
        #expect(bench.seen == ["in a"])
        #expect(bench.budget.usage.heldByteCount <= 324 << 10 && bench.budget.usage.heldByteCount >= 160_000)
        _ = bench.ask(400 << 10, "b")
        bench.kept.withLock { $0 = [] }
        bench.queue.runAll()
        #expect(bench.seen == ["in a", "in b"])
        withExtendedLifetime(shown) {}
    }

    @Test func `A custom holder of pixels is asked for memory like a cache, as long as it exists`() throws {
        let bench = Bench(1 << 20)
        var shelf: Shelf? = Shelf(try (0..<5).map { _ in try image(180) })
        for image in shelf?.images.withLock({ $0 }) ?? [] { bench.budget.hold(image) }
        if let shelf { bench.budget.attach(shelf) }
        _ = bench.ask(700 << 10, "a")
        bench.queue.runAll()
        #expect(bench.seen == ["in a"] && shelf?.images.withLock { $0.count } == 2)
        weak let former = shelf
        shelf = nil
        #expect(former == nil && bench.budget.usage.heldByteCount == 0)
        _ = bench.ask(400 << 10, "b")
        bench.queue.runAll()
        bench.kept.withLock { $0 = [] }
        bench.queue.runAll()
        #expect(bench.seen == ["in a", "in b"])
    }

    @Test func `Images with a cost of zero are evicted, too`() throws {
        let directory = TemporaryDirectory()
        let cache = ImageCache(directory: directory.path)
        let bench = Bench(1 << 20)
        bench.budget.attach(cache)
        for number in 0..<5 {
            let image = try image(180)
            bench.budget.hold(image)
            cache.memoryCache.setImage(image, forKey: "\(number)", cost: 0)
        }
        #expect(bench.budget.usage.heldByteCount >= 600_000)
        _ = bench.ask(900 << 10, "a")
        bench.queue.runAll()
        #expect(bench.seen == ["in a"] && bench.budget.usage.heldByteCount == 0)
    }

    @Test func `With nothing to wait for the job is refused with the name of the limit`() throws {
        let bench = Bench(1 << 20)
        let held = try image(400)
        bench.budget.hold(held)
        _ = bench.ask(600 << 10, "a")
        bench.queue.runAll()
        #expect(bench.seen == ["out a \(600 << 10)"])
        let error = WebImageError.memoryBudgetExceeded(allowed: 1, required: 2)
        #expect(error.code == .limitExceeded && error.limit?.name == "memoryBudget" && error.isOfMemoryBudget)
        #expect(!WebImageError.limitExceeded("maximumPixelCount", allowed: 1, required: 2).isOfMemoryBudget)
        withExtendedLifetime(held) {}
    }

    @Test func `With a patience it waits until displayed pixels are released, or the time is over`() throws {
        let queue = WorkQueue(stepped: "test")
        let timers = Lock<[@Sendable () -> Void]>([])
        let delays = DelaySource { _, body in
            timers.withLock { $0.append(body) }
            return {}
        }
        let budget = DecodedMemoryBudget(isProcessWide: false, queue: queue, delays: delays)
        budget.policy = .reject
        budget.byteLimit = 1 << 20
        budget.patience = 3
        #expect(budget.patience == 3)
        var shown: Image? = try image(400)
        if let shown { budget.hold(shown) }
        let log = Lock<[Bool]>([])
        let body: WorkQueue.AdmittedBody = { result in
            log.withLock { log in if case .success = result { log.append(true) } else { log.append(false) } }
        }
        _ = queue.submit(cost: .bytes(600 << 10), of: budget, body)
        queue.runAll()
        #expect(timers.withLock { $0.count } == 1 && log.withLock { $0 } == [])
        shown = nil
        queue.runAll()
        #expect(log.withLock { $0 } == [true] && shown == nil)
        let other = try image(400)
        budget.hold(other)
        _ = queue.submit(cost: .bytes(600 << 10), of: budget, body)
        queue.runAll()
        let last = timers.withLock { $0.last }
        last?()
        queue.runAll()
        #expect(log.withLock { $0 } == [true, false])
        withExtendedLifetime(other) {}
    }

    @Test func `A load's patience is limited in total, however often it asks`() throws {
        let queue = WorkQueue(stepped: "test")
        let clock = ManualClock()
        let timers = Lock<[(nanoseconds: UInt64, body: @Sendable () -> Void)]>([])
        let delays = DelaySource { nanoseconds, body in
            timers.withLock { $0.append((nanoseconds, body)) }
            return {}
        }
        let budget = DecodedMemoryBudget(isProcessWide: false, queue: queue, delays: delays, clock: clock.source)
        budget.policy = .reject
        budget.byteLimit = 1 << 20
        budget.patience = 3
        let shown = try image(400)
        budget.hold(shown)
        let patience = WaitAllowance()
        let refusals = Lock(0)
        func ask() {
            let outcome = budget.request(600 << 10, priority: .normal, mayShrink: false, patience: patience) { answer in
                if case .refused = answer { refusals.withLock { $0 += 1 } }
            }
            if case .answered(.refused) = outcome { refusals.withLock { $0 += 1 } }
        }
        ask()
        clock.advance(2)
        ask()
        clock.advance(1)
        for timer in timers.withLock({ $0 }) { timer.body() }
        #expect(refusals.withLock { $0 } == 2)
        ask()
        #expect(refusals.withLock { $0 } == 3, "nothing is left")
        #expect(timers.withLock { $0.map(\.nanoseconds) }.first == 3_000_000_000)
        withExtendedLifetime(shown) {}
    }

    @Test(.timeLimit(.minutes(10)))
    func `A job that cannot wait is answered even while memory is freed for another one`() async throws {
        let bench = Bench(1 << 20)
        let held = try image(400)
        bench.budget.hold(held)
        let answers = Monitor<[String]>([])
        let isFirst = Lock(true)
        let budget = bench.budget
        @Sendable func ask(_ name: String) {
            if case .refused = budget.now(600 << 10, mayShrink: false) { answers.withLock { $0.append(name) } }
        }
        // A handler that waits for a thread which makes a request itself.
        let id = budget.addReclaim {
            guard
                isFirst.withLock({ isFirst in
                    defer { isFirst = false }
                    return isFirst
                })
            else { return }
            startThread { ask("second") }
            _ = answers.wait { $0.isEmpty ? nil : true }
        }
        startThread { ask("first") }
        let all = await answers.value { $0.count == 2 ? $0 : nil }
        #expect(all == ["second", "first"])
        budget.removeReclaim(id)
        withExtendedLifetime(held) {}
    }

    @Test(.timeLimit(.minutes(10))) func `A cache may be released, with pixels that count, while others are attached`()
        async throws
    {
        let budget = DecodedMemoryBudget(byteLimit: 64 << 20)
        let directory = TemporaryDirectory()
        let ended = Monitor(0)
        for thread in 0..<2 {
            startThread { [self] in
                for number in 0..<300 {
                    let cache = ImageCache(directory: directory.path + "/\(thread)-\(number % 3)")
                    budget.attach(cache)
                    guard let image = try? image(8) else { continue }
                    budget.hold(image)
                    cache.storeToMemory(image, forKey: "a")
                }
                ended.withLock { $0 += 1 }
            }
        }
        #expect(await ended.value { $0 == 2 ? true : nil } == true)
    }

    @Test func `A reservation for an image also covers its derived image, once`() throws {
        let bench = Bench(1 << 20)
        _ = bench.ask(900 << 10, "a")
        bench.queue.runAll()
        let first = try #require(bench.kept.withLock { $0.popLast() })
        let picture = try image(200)
        first.hold(picture, keeping: 320_000)
        #expect(bench.budget.usage.inFlightByteCount == 320_000)
        #expect(first.handOver(atLeast: 320_001) == nil)
        let next = try #require(first.handOver(atLeast: 320_000))
        #expect(first.handOver() == nil)
        first.end()
        #expect(bench.budget.usage.inFlightByteCount == 320_000)
        next.hold(try image(200))
        next.end()
        #expect(bench.budget.usage.inFlightByteCount == 0)
        withExtendedLifetime(picture) {}
    }

    @Test
    func `Only a job that continues with the image takes over the rest of its reservation`() throws {
        let bench = Bench(1 << 20)
        let (picture, other, flip) = (
            try image(200), try image(200), FlippingTransformer(horizontal: true, vertical: false)
        )
        let need = MemoryCost.transforming(picture, by: flip).fixedByteCount ?? 0
        let (queue, budget) = (bench.queue, bench.budget)
        let ran = Lock<[String]>([])
        let first = queue.submit(cost: .bytes(900 << 10), of: budget) { _ in
            budget.made(picture, for: flip)
            for (name, image) in [("other", other), ("mine", picture), ("late", picture)] {
                let cost = MemoryCost.transforming(image, by: flip)
                _ = queue.submit(cost: cost, of: budget, after: image) { _ in
                    ran.withLock { $0.append("\(name) \(budget.usage.inFlightByteCount / need)") }
                }
            }
        }
        #expect(queue.waitingCount == 1)
        queue.takeNext()?()
        #expect(budget.usage.inFlightByteCount == need && queue.waitingCount == 3)
        queue.runAll()
        #expect(ran.withLock { $0 } == ["other 2", "mine 1", "late 1"])
        #expect(budget.usage.inFlightByteCount == 0 && MemoryReservation.current() == nil)
        withExtendedLifetime((first, picture, other)) {}
    }

    @Test(arguments: [false, true]) func `A finished job retains nothing of its work`(isCancelled: Bool) {
        let queue = WorkQueue(stepped: "test")
        let budget = DecodedMemoryBudget(isProcessWide: false, queue: queue, delays: .system)
        budget.byteLimit = 1 << 20
        var owned: Owned? = Owned()
        weak let left = owned
        let item = queue.submit(cost: .bytes(100), of: budget) { [owned] _ in withExtendedLifetime(owned) {} }
        owned = nil
        if isCancelled { item.cancel() }
        queue.runAll()
        #expect(left == nil)
        withExtendedLifetime(item) {}
    }

    @Test func `A coder may say that it needs all memory there is`() throws {
        var options = ImageDecodeOptions()
        options.preloadsAllFrames = true
        #expect(try GreedyCoder().completeMemoryNeed(of: Data([1]), options: options) == .max)
        let budget = DecodedMemoryBudget(isProcessWide: false, queue: WorkQueue(stepped: "test"), delays: .system)
        budget.byteLimit = 1 << 20
        let held = try image(400)
        budget.hold(held)
        for _ in 0..<3 { _ = budget.request(.max, priority: .normal, mayShrink: false) { _ in } }
        budget.byteLimit = 0
        #expect(budget.usage.waitingCount == 0)
        withExtendedLifetime(held) {}
    }

    @Test func `An incremental decode releases its memory when another job needs it`() throws {
        let bench = Bench(1 << 20)
        let room = Lock<ProvisionalReservation?>(nil)
        // In a separate function, which releases the reservation.
        func begin() {
            let arriving = bench.budget.roomOfWhatIsLeft(900 << 10) {
                bench.queue.submit { room.withLock { $0 = nil } }
            }
            room.withLock { $0 = arriving }
        }
        begin()
        #expect(bench.budget.usage.inFlightByteCount == 900 << 10)
        let refused = bench.budget.now(900 << 10, mayShrink: false, evicts: false)
        if case .refused = refused {} else { Issue.record("previews do not drive others out") }
        _ = bench.ask(600 << 10, "a")
        bench.queue.runAll()
        #expect(bench.seen == ["in a"])
    }

    @Test func `Many threads that decode, release and cancel leave nothing behind`() async {
        let queue = WorkQueue(name: "test", width: 4)
        let budget = DecodedMemoryBudget(isProcessWide: false, queue: queue)
        budget.policy = .reject
        budget.byteLimit = 4 << 20
        let done = Monitor(0)
        let most = Lock(0)
        for number in 0..<400 {
            let priority = LoadPriority.allCases[number % 3]
            let bytes = (number % 7 + 1) << 18
            let item = queue.submit(cost: .bytes(bytes), of: budget, priority: priority) { _ in
                if let reservation = MemoryReservation.current(of: budget) {
                    let usage = budget.usage
                    most.withLock { $0 = max($0, usage.inFlightByteCount + usage.heldByteCount) }
                    if let image = try? Image(bitmap: .allocate(width: 64, height: 64, pixelFormat: .rgb8)) {
                        reservation.hold(image)
                        reservation.end()
                    }
                }
                done.withLock { $0 += 1 }
            }
            if number % 5 == 4 {
                item.cancel()
                item.setPriority(.high)
            }
        }
        let ended = await done.value { $0 >= 320 ? true : nil }
        #expect(ended == true && most.withLock { $0 } <= 4 << 20)
        let isReturned = await becomes {
            budget.usage.inFlightByteCount == 0 && budget.usage.heldByteCount == 0 && budget.usage.waitingCount == 0
        }
        #expect(isReturned)
    }
}

private final class Owned: Sendable {}

/// A coder without a cost estimate.
private final class GreedyCoder: ImageCoder {
    func canDecode(_ data: Data) -> Bool { true }

    func properties(of data: Data, limits: ImageLimits) throws(WebImageError) -> ImageProperties {
        var properties = ImageProperties(format: .gif, width: 4, height: 2)
        properties.frameCount = 2
        return properties
    }

    func memoryNeed(of data: Data, options: ImageDecodeOptions) throws(WebImageError) -> DecodeMemoryNeed {
        DecodeMemoryNeed(outputByteCount: .max, workingByteCount: .max)
    }

    func decode(_ data: Data, options: ImageDecodeOptions) throws(WebImageError) -> Image { .tiny() }

    func canEncode(to format: ImageFormat) -> Bool { false }

    func encode(
        _ image: Image,
        to format: ImageFormat,
        options: ImageEncodeOptions
    ) throws(WebImageError) -> Data { Data() }
}
