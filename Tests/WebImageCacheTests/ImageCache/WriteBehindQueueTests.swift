import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageCache

/// A queue whose methods can be called inside an expectation.
final class WriteBehindBox {
    private var queue = WriteBehindQueue()

    func submit(
        _ work: DiskWork,
        forKey key: String,
        replacing: Bool = true,
        costLimit: Int = .max,
        completion: WriteBehindQueue.Completion?
    ) -> Bool {
        (queue.replaces, queue.costLimit) = (replacing, costLimit)
        return queue.submit(work, forKey: key, completion: completion)
    }

    func begin(_ key: String, replacing: Bool = true) -> DiskWork? {
        queue.replaces = replacing
        return if case .work(let work) = queue.next(key, for: .caller) { work } else { nil }
    }

    func next(_ key: String, for worker: DiskWorker) -> WriteBehindQueue.Next { queue.next(key, for: worker) }
    func pending(_ key: String, replacing: Bool = true) -> PendingEntry {
        queue.replaces = replacing
        return queue.pending(MemoryCacheKey(key))
    }
    func generation(_ key: String) -> Generation { queue.generations.generation(of: MemoryCacheKey(key)) }
    func finishEncoding(_ entry: CachedImageData?, _ key: String, replacing: Bool = true) -> WriteBehindQueue.Ended {
        (queue.replaces, queue.costLimit) = (replacing, .max)
        return queue.finishEncoding(entry, forKey: key)
    }
    func requestClear(completion: WriteBehindQueue.Completion?) -> Bool { queue.requestClear(completion: completion) }
    func beginClear() -> Bool { queue.beginClear() }
    func whenIdle(_ completion: @escaping WriteBehindQueue.Completion) -> Bool { queue.whenIdle(completion) }
    func whenFree(_ key: String, _ body: @escaping WriteBehindQueue.Completion) -> Bool { queue.whenFree(key, body) }
    var ageCount: Int { queue.ageCount }
    var isIdle: Bool { queue.isIdle }
    var waitingCost: Int { queue.waitingCost }
    var droppedCount: Int { queue.droppedCount }

    func finish(_ key: String) -> WriteBehindQueue.Ended { queue.finish(key) }
    func finishClear() -> WriteBehindQueue.Ended { queue.finishClear() }
}

@Suite(.tags(.threadSanitizer)) struct WriteBehindQueueTests {
    private final class Log: Sendable {
        let lines = Lock<[String]>([])
        func entry(_ text: String) -> WriteBehindQueue.Completion { { self.lines.withLock { $0.append(text) } } }
        var all: [String] { lines.withLock { $0 } }
    }

    private let log = Log()

    private func write(_ text: String) -> DiskWork { .store(.entry(CachedImageData(data: Data(text.utf8)))) }

    private func pending(_ queue: WriteBehindBox, _ key: String) -> String {
        let pending = queue.pending(key)
        return switch pending.source {
        case nil: pending.hidesDisk ? "absent" : pending.amendment == nil ? "nothing" : "amended"
        case .image: "image"
        case .entry(let entry): String(decoding: entry.data, as: UTF8.self)
        }
    }

    private func finish(_ queue: WriteBehindBox, _ key: String) -> (Bool, Bool) {
        let ended = queue.finish(key)
        for completion in ended.completions { completion() }
        return (!ended.keys.isEmpty, ended.schedulesClear)
    }

    @Test func `A reader sees pending and running work until it is done`() {
        let queue = WriteBehindBox()
        #expect(pending(queue, "k") == "nothing")
        #expect(queue.submit(write("a"), forKey: "k", completion: log.entry("a")))
        #expect(pending(queue, "k") == "a")
        #expect(queue.begin("k") != nil)
        #expect(pending(queue, "k") == "a")
        #expect(finish(queue, "k") == (false, false))
        #expect(pending(queue, "k") == "nothing")
        #expect(log.all == ["a"])
        #expect(queue.isIdle)
    }

    @Test func `Work starts a new generation of its key before any of it is done, and a clear of all keys`() throws {
        // Some keys share their generations, and which ones differs from process to process.
        let otherKey = try #require(
            (0..<100).lazy.map { "other \($0)" }.first { key in
                let queue = WriteBehindBox()
                let before = queue.generation("k")
                _ = queue.submit(write("a"), forKey: key, completion: nil)
                return queue.generation("k") == before
            }
        )
        let queue = WriteBehindBox()
        var (own, other) = (queue.generation("k"), queue.generation(otherKey))
        let works = [write("a"), .remove, .amend(EntryAmendment(extendedData: .some(nil)))]
        for (isReplacing, work) in works.flatMap({ [(true, $0), (false, $0)] }) {
            _ = queue.submit(work, forKey: "k", replacing: isReplacing, completion: nil)
            #expect(queue.generation("k") != own)
            #expect(queue.generation(otherKey) == other)
            own = queue.generation("k")
        }
        _ = queue.begin("k")
        _ = finish(queue, "k")
        #expect(queue.generation("k") == own, "doing it changes nothing that a reader sees")
        _ = queue.requestClear(completion: nil)
        #expect(queue.generation("k") != own && queue.generation(otherKey) != other)
        (own, other) = (queue.generation("k"), queue.generation(otherKey))
        #expect(queue.beginClear())
        _ = queue.finishClear()
        #expect(queue.generation("k") == own && queue.generation(otherKey) == other)
    }

    @Test func `Newer work replaces pending work, and both completions are called with it`() {
        let queue = WriteBehindBox()
        #expect(queue.submit(write("a"), forKey: "k", completion: log.entry("a")))
        #expect(!queue.submit(write("b"), forKey: "k", completion: log.entry("b")))
        #expect(!queue.submit(.remove, forKey: "k", completion: log.entry("c")))
        #expect(pending(queue, "k") == "absent")
        let work = queue.begin("k")
        #expect(work?.isStore == false)
        #expect(log.all == [])
        _ = finish(queue, "k")
        #expect(log.all == ["a", "b", "c"])
    }

    @Test func `Work of one key runs one at a time`() {
        let queue = WriteBehindBox()
        _ = queue.submit(write("a"), forKey: "k", completion: log.entry("a"))
        _ = queue.begin("k")
        #expect(!queue.submit(write("b"), forKey: "k", completion: log.entry("b")))
        #expect(queue.begin("k") == nil)
        #expect(pending(queue, "k") == "b")
        #expect(finish(queue, "k") == (true, false))
        #expect(log.all == ["a"])
        #expect(queue.begin("k") != nil)
        _ = finish(queue, "k")
        #expect(log.all == ["a", "b"])
    }

    @Test func `Without replacing, the first write wins`() {
        let queue = WriteBehindBox()
        _ = queue.submit(write("a"), forKey: "k", replacing: false, completion: log.entry("a"))
        #expect(!queue.submit(write("b"), forKey: "k", replacing: false, completion: log.entry("b")))
        #expect(pending(queue, "k") == "a")
        _ = queue.begin("k")
        #expect(!queue.submit(write("c"), forKey: "k", replacing: false, completion: log.entry("c")))
        #expect(pending(queue, "k") == "a")
        _ = finish(queue, "k")
        #expect(log.all == ["a", "b", "c"])
        // A removal in between permits the next.
        _ = queue.submit(.remove, forKey: "k", replacing: false, completion: nil)
        _ = queue.submit(write("d"), forKey: "k", replacing: false, completion: nil)
        #expect(pending(queue, "k") == "d")
    }

    @Test func `Above the limit the oldest pending writes become removals`() {
        let queue = WriteBehindBox()
        for number in 0..<10 {
            _ = queue.submit(
                write("0123456789"),
                forKey: "\(number)",
                costLimit: 35,
                completion: log.entry("\(number)")
            )
            #expect(queue.waitingCost <= 35)
        }
        #expect(queue.droppedCount == 7)
        for number in 0..<7 { #expect(pending(queue, "\(number)") == "absent") }
        for number in 7..<10 { #expect(pending(queue, "\(number)") == "0123456789") }
        // They complete all the same.
        for number in 0..<10 {
            #expect(queue.begin("\(number)") != nil)
            _ = finish(queue, "\(number)")
        }
        #expect(log.all.count == 10)
        #expect(queue.waitingCost == 0)
    }

    @Test func `One write bigger than the limit waits by itself`() {
        let queue = WriteBehindBox()
        _ = queue.submit(write("small"), forKey: "a", costLimit: 10, completion: nil)
        _ = queue.submit(write("something bigger"), forKey: "b", costLimit: 10, completion: nil)
        #expect(pending(queue, "a") == "absent")
        #expect(pending(queue, "b") == "something bigger")
    }

    @Test func `Replaced or running work does not count`() {
        let queue = WriteBehindBox()
        for _ in 0..<1000 { _ = queue.submit(write("0123456789"), forKey: "k", costLimit: 20, completion: nil) }
        #expect(queue.waitingCost == 10)
        #expect(queue.droppedCount == 0)
        _ = queue.begin("k")
        #expect(queue.waitingCost == 0)
    }

    @Test
    func `Dropped, cleared or running work does not keep a place in the list by age that now belongs to another key`() {
        let queue = WriteBehindBox()
        for round in 0..<3 {
            _ = queue.submit(write("0123456789"), forKey: "running", completion: nil)
            #expect(queue.begin("running") != nil)
            for number in 0..<5 { _ = queue.submit(write("0123456789"), forKey: "\(number)", completion: nil) }
            _ = queue.requestClear(completion: nil)
            #expect(queue.waitingCost == 0)
            _ = queue.submit(write("0123456789"), forKey: "a", completion: nil)
            _ = queue.submit(write("0123456789"), forKey: "running", completion: nil)
            _ = queue.submit(write("0123456789"), forKey: "b", costLimit: 20, completion: nil)
            #expect(pending(queue, "a") == "absent" && queue.droppedCount == round + 1)
            #expect(pending(queue, "running") == "0123456789" && pending(queue, "b") == "0123456789")
            _ = finish(queue, "running")
            #expect(queue.beginClear())
            for key in queue.finishClear().keys {
                #expect(queue.begin(key) != nil)
                _ = finish(queue, key)
            }
            #expect(queue.isIdle && queue.waitingCost == 0)
        }
    }

    @Test func `The list by age does not grow with finished work`() {
        let queue = WriteBehindBox()
        _ = queue.submit(write("stays"), forKey: "first", completion: nil)
        for number in 0..<5000 {
            _ = queue.submit(write("a"), forKey: "\(number)", completion: nil)
            _ = queue.submit(write("b"), forKey: "\(number)", completion: nil)
            _ = queue.begin("\(number)")
            _ = finish(queue, "\(number)")
            _ = queue.submit(write("again"), forKey: "hot", completion: nil)
            #expect(queue.ageCount < 100)
        }
        // Pending work has kept its place.
        _ = queue.submit(write("0123456789"), forKey: "new", costLimit: 15, completion: nil)
        #expect(pending(queue, "first") == "absent")
        #expect(pending(queue, "hot") == "again")
    }

    @Test func `Keys that are canonically equivalent but differ in bytes do not block each other`() {
        let queue = WriteBehindBox()
        let (composed, decomposed) = ("caf\u{e9}", "cafe\u{301}")
        #expect(queue.submit(write("1"), forKey: composed, completion: nil))
        #expect(queue.submit(write("2"), forKey: decomposed, completion: nil))
        #expect(pending(queue, composed) == "1")
        #expect(pending(queue, decomposed) == "2")
    }

    @Test func `A waiter for a key is notified when work has ended, or can begin`() {
        let queue = WriteBehindBox()
        _ = queue.submit(write("a"), forKey: "k", completion: nil)
        #expect(!queue.whenFree("k", log.entry("never")))
        _ = queue.begin("k")
        _ = queue.submit(write("b"), forKey: "k", completion: nil)
        #expect(queue.whenFree("k", log.entry("k")))
        _ = finish(queue, "k")
        #expect(log.all == ["k"])
        _ = queue.requestClear(completion: nil)
        // The clear can begin.
        #expect(!queue.whenFree("k", log.entry("never")))
        _ = queue.beginClear()
        _ = queue.submit(write("c"), forKey: "k", completion: nil)
        #expect(queue.whenFree("k", log.entry("after the clear")))
        for completion in queue.finishClear().completions { completion() }
        #expect(log.all == ["k", "after the clear"], "each once")
        #expect(!queue.whenFree("k", log.entry("never")))
    }

    @Test func `Without replacing, a dropped write leaves the entry unchanged`() {
        let queue = WriteBehindBox()
        _ = queue.submit(write("0123456789"), forKey: "a", replacing: false, costLimit: 10, completion: nil)
        _ = queue.submit(write("0123456789"), forKey: "b", replacing: false, costLimit: 10, completion: nil)
        #expect(pending(queue, "a") == "nothing")
    }

    @Test func `A clear waits for running work, drops pending work, and holds back later work`() {
        let queue = WriteBehindBox()
        _ = queue.submit(write("a"), forKey: "running", completion: log.entry("running"))
        _ = queue.begin("running")
        _ = queue.submit(write("b"), forKey: "waiting", completion: log.entry("waiting"))
        #expect(!queue.requestClear(completion: log.entry("clear")))
        for key in ["running", "waiting", "on disk"] { #expect(pending(queue, key) == "absent") }
        #expect(!queue.submit(write("c"), forKey: "after", completion: log.entry("after")))
        #expect(pending(queue, "after") == "c")
        #expect(queue.begin("after") == nil)
        #expect(!queue.beginClear())
        #expect(finish(queue, "running") == (false, true))
        #expect(queue.beginClear())
        #expect(!queue.beginClear())
        #expect(log.all == ["running"])
        let ended = queue.finishClear()
        for completion in ended.completions { completion() }
        #expect(ended.keys == ["after"])
        #expect(!ended.schedulesClear)
        #expect(log.all == ["running", "waiting", "clear"])
        #expect(pending(queue, "on disk") == "nothing")
        #expect(queue.begin("after") != nil)
        _ = finish(queue, "after")
        #expect(queue.isIdle)
    }

    @Test func `Dropped and held back work continues in order after a clear`() {
        let queue = WriteBehindBox()
        let names = (0..<40).map { "key \($0)" }
        for name in names { _ = queue.submit(write("a"), forKey: name, completion: log.entry(name)) }
        #expect(queue.requestClear(completion: nil))
        for name in names.reversed() { _ = queue.submit(write("b"), forKey: name, completion: nil) }
        #expect(queue.beginClear())
        let ended = queue.finishClear()
        for completion in ended.completions { completion() }
        #expect(log.all == names)
        #expect(ended.keys == names.reversed())
    }

    @Test func `A clear during a clear is a second one`() {
        let queue = WriteBehindBox()
        #expect(queue.requestClear(completion: log.entry("1")))
        #expect(!queue.requestClear(completion: log.entry("2")))
        #expect(queue.beginClear())
        _ = queue.submit(write("a"), forKey: "k", completion: log.entry("k"))
        #expect(!queue.requestClear(completion: log.entry("3")))
        #expect(pending(queue, "k") == "absent")
        let first = queue.finishClear()
        #expect(first.schedulesClear)
        #expect(first.completions.isEmpty)
        #expect(queue.beginClear())
        for completion in queue.finishClear().completions { completion() }
        #expect(log.all.sorted() == ["1", "2", "3", "k"])
        #expect(queue.isIdle)
    }

    @Test func `A waiter for the end is notified when everything is done, or at once`() {
        let queue = WriteBehindBox()
        #expect(!queue.whenIdle(log.entry("never")))
        _ = queue.submit(write("a"), forKey: "a", completion: nil)
        _ = queue.submit(write("b"), forKey: "b", completion: nil)
        #expect(queue.whenIdle(log.entry("idle")))
        for key in ["a", "b"] {
            #expect(log.all == [])
            _ = queue.begin(key)
            _ = finish(queue, key)
        }
        #expect(log.all == ["idle"])
    }

    @Test func `Under random events every completion is called once, and a reader sees the last call`() {
        for seed in 0..<TestEffort.rounds(200) {
            var random = SeededGenerator(seed: UInt64(seed))
            let queue = WriteBehindBox()
            var disk: [String: String] = [:]
            var model: [String: String] = [:]
            var running: [String: DiskWork] = [:]
            var isClearing = false
            var submitted = 0
            let log = Log()
            func finishOne(_ key: String) {
                switch running.removeValue(forKey: key) {
                case .store(.entry(let entry)): disk[key] = String(decoding: entry.data, as: UTF8.self)
                case .remove: disk[key] = nil
                default: break
                }
                for completion in queue.finish(key).completions { completion() }
            }
            func finishClear() {
                disk = [:]
                isClearing = false
                for completion in queue.finishClear().completions { completion() }
            }
            func check() {
                for key in ["a", "b", "c"] {
                    let seen = pending(queue, key)
                    let value = seen == "nothing" ? disk[key] : (seen == "absent" ? nil : seen)
                    #expect(value == model[key])
                }
            }
            for step in 0..<200 {
                let key = ["a", "b", "c"].randomElement(using: &random) ?? "a"
                switch Int.random(in: 0..<20, using: &random) {
                case 0..<6:
                    submitted += 1
                    model[key] = "\(step)"
                    _ = queue.submit(write("\(step)"), forKey: key, completion: log.entry("x"))
                case 6..<8:
                    submitted += 1
                    model[key] = nil
                    _ = queue.submit(.remove, forKey: key, completion: log.entry("x"))
                case 8 where step % 3 == 0:
                    submitted += 1
                    model = [:]
                    _ = queue.requestClear(completion: log.entry("x"))
                case 9..<14: if let work = queue.begin(key) { running[key] = work }
                case 14: if queue.beginClear() { isClearing = true }
                case 15: if isClearing { finishClear() }
                default: if running[key] != nil { finishOne(key) }
                }
                check()
            }
            for _ in 0..<10 {
                if isClearing { finishClear() }
                for key in Array(running.keys) { finishOne(key) }
                if queue.beginClear() { isClearing = true }
                for key in ["a", "b", "c"] { if let work = queue.begin(key) { running[key] = work } }
            }
            #expect(queue.isIdle)
            #expect(queue.waitingCost == 0)
            #expect(log.all.count == submitted)
            #expect(disk == model)
        }
    }
}

@Suite(.tags(.threadSanitizer)) struct PendingResultTests {
    @Test func `Only the first result of a completion has an effect`() {
        let count = Lock(0)
        let result = PendingResult<Int> { value in count.withLock { $0 += value } }
        #expect(result.isWanted)
        result.finish(1)
        result.finish(10)
        #expect(result.cancel() == nil)
        #expect(!result.isCancelled)
        #expect(!result.isWanted)
        #expect(count.withLock { $0 } == 1)
    }

    @Test func `Cancelling takes the completion and the work`() async {
        let queue = WorkQueue(name: "test", width: 1)
        let gate = Latch()
        queue.submit { gate.wait() }
        let ran = Lock(false)
        let result = PendingResult<Int> { _ in }
        result.attach(queue.submit { ran.withLock { $0 = true } })
        #expect(result.cancel() != nil)
        #expect(result.isCancelled)
        // Attached after the cancellation: taken out as well.
        result.attach(queue.submit { ran.withLock { $0 = true } })
        gate.open()
        let end = Latch()
        queue.submit { end.open() }
        #expect(await end.opens())
        #expect(!ran.withLock { $0 })
    }
}

extension PendingResultTests {
    private struct Work: RunningWork {
        let name: String
        let log: Lock<[String]>

        func cancel() { log.withLock { $0.append("\(name) cancelled") } }
        func setPriority(_ priority: LoadPriority) { log.withLock { $0.append("\(name) \(priority)") } }
    }

    @Test func `Work gets the current priority, and a later stage's priority stays, whichever is set first`() {
        let log = Lock<[String]>([])
        let result = PendingResult<Int> { _ in }
        result.attach(Work(name: "read", log: log))
        result.setPriority(.high)
        result.attach(Work(name: "decode", log: log), stage: 1)
        result.attach(Work(name: "late", log: log))
        result.setPriority(.low)
        _ = result.cancel()
        #expect(log.withLock { $0 } == ["read high", "decode high", "decode high", "decode low", "decode cancelled"])
    }
}

@Suite(.tags(.threadSanitizer)) struct LatchTests {
    @Test func `A wait ends when the latch opens, or after its time`() async {
        await onThread {
            let latch = Latch()
            #expect(!latch.wait(seconds: 0))
            #expect(!latch.wait(seconds: -1))
            #expect(!latch.wait(seconds: 0.01))
            let queue = WorkQueue(name: "test", width: 1)
            queue.submit { latch.open() }
            latch.wait()
            #expect(latch.wait(seconds: 0))
            latch.open()
        }
    }
}
