import FoundationEssentials
import TestSupport
import Testing

@testable import WebImage

/// A backlog whose methods can be called inside of an expectation.
final class BacklogBox {
    private var backlog = DiskBacklog()

    func submit(
        _ work: DiskWork,
        forKey key: String,
        replacing: Bool = true,
        costLimit: Int = .max,
        completion: DiskBacklog.Completion?
    ) -> Bool {
        backlog.submit(work, forKey: key, replacing: replacing, costLimit: costLimit, completion: completion)
    }

    func begin(_ key: String) -> DiskWork? {
        if case .work(let work) = backlog.next(key, for: .caller) { work } else { nil }
    }

    func next(_ key: String, for worker: DiskWorker) -> DiskBacklog.Next { backlog.next(key, for: worker) }
    func pending(_ key: String, replacing: Bool = true) -> PendingEntry { backlog.pending(key, replacing: replacing) }
    func finishEncoding(
        _ entry: CachedImageData?,
        _ key: String,
        replacing: Bool = true,
        costLimit: Int = .max
    ) -> DiskBacklog.Ended {
        backlog.finishEncoding(entry, forKey: key, replacing: replacing, costLimit: costLimit)
    }
    func requestClear(completion: DiskBacklog.Completion?) -> Bool { backlog.requestClear(completion: completion) }
    func beginClear() -> Bool { backlog.beginClear() }
    func whenIdle(_ completion: @escaping DiskBacklog.Completion) -> Bool { backlog.whenIdle(completion) }
    func whenFree(_ key: String, _ body: @escaping DiskBacklog.Completion) -> Bool { backlog.whenFree(key, body) }
    func takeBlocked() -> [DiskBacklog.Completion] { backlog.takeBlocked() }
    var orderCount: Int { backlog.orderCount }
    var isIdle: Bool { backlog.isIdle }
    var waitingCost: Int { backlog.waitingCost }
    var droppedCount: Int { backlog.droppedCount }

    func finish(_ key: String) -> DiskBacklog.Ended { backlog.finish(key) }

    func finishClear() -> (completions: [DiskBacklog.Completion], keys: [String], schedulesClear: Bool) {
        backlog.finishClear()
    }
}

@Suite struct DiskBacklogTests {
    private final class Log: Sendable {
        let lines = Lock<[String]>([])
        func entry(_ text: String) -> DiskBacklog.Completion { { self.lines.withLock { $0.append(text) } } }
        var all: [String] { lines.withLock { $0 } }
    }

    private let log = Log()

    private func write(_ text: String) -> DiskWork { .write(CachedImageData(data: Data(text.utf8))) }

    private func pending(_ backlog: BacklogBox, _ key: String) -> String {
        let pending = backlog.pending(key)
        return switch pending.picture {
        case nil: pending.hidesDisk ? "absent" : pending.amendment == nil ? "nothing" : "amended"
        case .image: "image"
        case .entry(let entry): String(decoding: entry.data, as: UTF8.self)
        }
    }

    private func finish(_ backlog: BacklogBox, _ key: String) -> (Bool, Bool) {
        let ended = backlog.finish(key)
        for completion in ended.completions { completion() }
        return (ended.schedulesKey, ended.schedulesClear)
    }

    @Test func `What waits or runs is what a reader sees, until it is done`() {
        let backlog = BacklogBox()
        #expect(pending(backlog, "k") == "nothing")
        #expect(backlog.submit(write("a"), forKey: "k", completion: log.entry("a")))
        #expect(pending(backlog, "k") == "a")
        #expect(backlog.begin("k") != nil)
        #expect(pending(backlog, "k") == "a")
        #expect(finish(backlog, "k") == (false, false))
        #expect(pending(backlog, "k") == "nothing")
        #expect(log.all == ["a"])
        #expect(backlog.isIdle)
    }

    @Test func `Newer work replaces what waits, and both completions come with it`() {
        let backlog = BacklogBox()
        #expect(backlog.submit(write("a"), forKey: "k", completion: log.entry("a")))
        #expect(!backlog.submit(write("b"), forKey: "k", completion: log.entry("b")))
        #expect(!backlog.submit(.remove, forKey: "k", completion: log.entry("c")))
        #expect(pending(backlog, "k") == "absent")
        let work = backlog.begin("k")
        #expect(work?.isWrite == false)
        #expect(log.all == [])
        _ = finish(backlog, "k")
        #expect(log.all == ["a", "b", "c"])
    }

    @Test func `Work of one key runs one at a time`() {
        let backlog = BacklogBox()
        _ = backlog.submit(write("a"), forKey: "k", completion: log.entry("a"))
        _ = backlog.begin("k")
        #expect(!backlog.submit(write("b"), forKey: "k", completion: log.entry("b")))
        #expect(backlog.begin("k") == nil)
        #expect(pending(backlog, "k") == "b")
        #expect(finish(backlog, "k") == (true, false))
        #expect(log.all == ["a"])
        #expect(backlog.begin("k") != nil)
        _ = finish(backlog, "k")
        #expect(log.all == ["a", "b"])
    }

    @Test func `Without replacing, the first write wins`() {
        let backlog = BacklogBox()
        _ = backlog.submit(write("a"), forKey: "k", replacing: false, completion: log.entry("a"))
        #expect(!backlog.submit(write("b"), forKey: "k", replacing: false, completion: log.entry("b")))
        #expect(pending(backlog, "k") == "a")
        _ = backlog.begin("k")
        #expect(!backlog.submit(write("c"), forKey: "k", replacing: false, completion: log.entry("c")))
        #expect(pending(backlog, "k") == "a")
        _ = finish(backlog, "k")
        #expect(log.all == ["a", "b", "c"])
        // A removal in between makes way for the next.
        _ = backlog.submit(.remove, forKey: "k", replacing: false, completion: nil)
        _ = backlog.submit(write("d"), forKey: "k", replacing: false, completion: nil)
        #expect(pending(backlog, "k") == "d")
    }

    @Test func `When too much waits, the oldest writes become removals`() {
        let backlog = BacklogBox()
        for number in 0..<10 {
            _ = backlog.submit(
                write("0123456789"),
                forKey: "\(number)",
                costLimit: 35,
                completion: log.entry("\(number)")
            )
            #expect(backlog.waitingCost <= 35)
        }
        #expect(backlog.droppedCount == 7)
        for number in 0..<7 { #expect(pending(backlog, "\(number)") == "absent") }
        for number in 7..<10 { #expect(pending(backlog, "\(number)") == "0123456789") }
        // They complete all the same.
        for number in 0..<10 {
            #expect(backlog.begin("\(number)") != nil)
            _ = finish(backlog, "\(number)")
        }
        #expect(log.all.count == 10)
        #expect(backlog.waitingCost == 0)
    }

    @Test func `One write bigger than the limit waits alone`() {
        let backlog = BacklogBox()
        _ = backlog.submit(write("small"), forKey: "a", costLimit: 10, completion: nil)
        _ = backlog.submit(write("something bigger"), forKey: "b", costLimit: 10, completion: nil)
        #expect(pending(backlog, "a") == "absent")
        #expect(pending(backlog, "b") == "something bigger")
    }

    @Test func `What was replaced or has begun does not count`() {
        let backlog = BacklogBox()
        for _ in 0..<1000 { _ = backlog.submit(write("0123456789"), forKey: "k", costLimit: 20, completion: nil) }
        #expect(backlog.waitingCost == 10)
        #expect(backlog.droppedCount == 0)
        _ = backlog.begin("k")
        #expect(backlog.waitingCost == 0)
    }

    @Test func `The list by age does not grow with what is over`() {
        let backlog = BacklogBox()
        _ = backlog.submit(write("stays"), forKey: "first", completion: nil)
        for number in 0..<5000 {
            _ = backlog.submit(write("a"), forKey: "\(number)", completion: nil)
            _ = backlog.submit(write("b"), forKey: "\(number)", completion: nil)
            _ = backlog.begin("\(number)")
            _ = finish(backlog, "\(number)")
            _ = backlog.submit(write("again"), forKey: "hot", completion: nil)
            #expect(backlog.orderCount < 100)
        }
        // What still waits has kept its place.
        _ = backlog.submit(write("0123456789"), forKey: "new", costLimit: 15, completion: nil)
        #expect(pending(backlog, "first") == "absent")
        #expect(pending(backlog, "hot") == "again")
    }

    @Test func `Keys that look the same but differ in their bytes do not get into each other's way`() {
        let backlog = BacklogBox()
        let (composed, decomposed) = ("caf\u{e9}", "cafe\u{301}")
        #expect(backlog.submit(write("1"), forKey: composed, completion: nil))
        #expect(backlog.submit(write("2"), forKey: decomposed, completion: nil))
        #expect(pending(backlog, composed) == "1")
        #expect(pending(backlog, decomposed) == "2")
    }

    @Test func `Who waits for a key is told when something has ended, or that it can begin`() {
        let backlog = BacklogBox()
        _ = backlog.submit(write("a"), forKey: "k", completion: nil)
        #expect(!backlog.whenFree("k", log.entry("never")))
        _ = backlog.begin("k")
        _ = backlog.submit(write("b"), forKey: "k", completion: nil)
        #expect(backlog.whenFree("k", log.entry("k")))
        _ = finish(backlog, "k")
        for completion in backlog.takeBlocked() { completion() }
        #expect(log.all == ["k"])
        #expect(backlog.takeBlocked().isEmpty)
        _ = backlog.requestClear(completion: nil)
        // The clear can begin.
        #expect(!backlog.whenFree("k", log.entry("never")))
        _ = backlog.beginClear()
        _ = backlog.submit(write("c"), forKey: "k", completion: nil)
        #expect(backlog.whenFree("k", log.entry("after the clear")))
        _ = backlog.finishClear()
        for completion in backlog.takeBlocked() { completion() }
        #expect(log.all == ["k", "after the clear"])
        #expect(!backlog.whenFree("k", log.entry("never")))
    }

    @Test func `Without replacing, a write given up leaves the entry as it is`() {
        let backlog = BacklogBox()
        _ = backlog.submit(write("0123456789"), forKey: "a", replacing: false, costLimit: 10, completion: nil)
        _ = backlog.submit(write("0123456789"), forKey: "b", replacing: false, costLimit: 10, completion: nil)
        #expect(pending(backlog, "a") == "nothing")
    }

    @Test func `A clear waits for what runs, gives up what waits, and holds back what comes after`() {
        let backlog = BacklogBox()
        _ = backlog.submit(write("a"), forKey: "running", completion: log.entry("running"))
        _ = backlog.begin("running")
        _ = backlog.submit(write("b"), forKey: "waiting", completion: log.entry("waiting"))
        #expect(!backlog.requestClear(completion: log.entry("clear")))
        for key in ["running", "waiting", "on disk"] { #expect(pending(backlog, key) == "absent") }
        #expect(!backlog.submit(write("c"), forKey: "after", completion: log.entry("after")))
        #expect(pending(backlog, "after") == "c")
        #expect(backlog.begin("after") == nil)
        #expect(!backlog.beginClear())
        #expect(finish(backlog, "running") == (false, true))
        #expect(backlog.beginClear())
        #expect(!backlog.beginClear())
        #expect(log.all == ["running"])
        let (completions, keys, again) = backlog.finishClear()
        for completion in completions { completion() }
        #expect(keys == ["after"])
        #expect(!again)
        #expect(log.all == ["running", "waiting", "clear"])
        #expect(pending(backlog, "on disk") == "nothing")
        #expect(backlog.begin("after") != nil)
        _ = finish(backlog, "after")
        #expect(backlog.isIdle)
    }

    @Test func `What a clear gives up or holds back goes on in the order it came`() {
        let backlog = BacklogBox()
        let names = (0..<40).map { "key \($0)" }
        for name in names { _ = backlog.submit(write("a"), forKey: name, completion: log.entry(name)) }
        #expect(backlog.requestClear(completion: nil))
        for name in names.reversed() { _ = backlog.submit(write("b"), forKey: name, completion: nil) }
        #expect(backlog.beginClear())
        let (completions, keys, _) = backlog.finishClear()
        for completion in completions { completion() }
        #expect(log.all == names)
        #expect(keys == names.reversed())
    }

    @Test func `A clear during a clear is a second one`() {
        let backlog = BacklogBox()
        #expect(backlog.requestClear(completion: log.entry("1")))
        #expect(!backlog.requestClear(completion: log.entry("2")))
        #expect(backlog.beginClear())
        _ = backlog.submit(write("a"), forKey: "k", completion: log.entry("k"))
        #expect(!backlog.requestClear(completion: log.entry("3")))
        #expect(pending(backlog, "k") == "absent")
        let first = backlog.finishClear()
        #expect(first.schedulesClear)
        #expect(first.completions.isEmpty)
        #expect(backlog.beginClear())
        for completion in backlog.finishClear().completions { completion() }
        #expect(log.all.sorted() == ["1", "2", "3", "k"])
        #expect(backlog.isIdle)
    }

    @Test func `Who waits for the end is told when everything is done, and at once when it is`() {
        let backlog = BacklogBox()
        #expect(!backlog.whenIdle(log.entry("never")))
        _ = backlog.submit(write("a"), forKey: "a", completion: nil)
        _ = backlog.submit(write("b"), forKey: "b", completion: nil)
        #expect(backlog.whenIdle(log.entry("idle")))
        for key in ["a", "b"] {
            #expect(log.all == [])
            _ = backlog.begin(key)
            _ = finish(backlog, key)
        }
        #expect(log.all == ["idle"])
    }

    @Test func `Under random events every completion comes once, and a reader sees the last call`() {
        for seed in 0..<200 {
            var random = SeededGenerator(seed: UInt64(seed))
            let backlog = BacklogBox()
            var disk: [String: String] = [:]
            var model: [String: String] = [:]
            var running: [String: DiskWork] = [:]
            var isClearing = false
            var submitted = 0
            let log = Log()
            func finishOne(_ key: String) {
                switch running.removeValue(forKey: key) {
                case .write(let entry): disk[key] = String(decoding: entry.data, as: UTF8.self)
                case .remove: disk[key] = nil
                default: break
                }
                for completion in backlog.finish(key).completions { completion() }
            }
            func finishClear() {
                disk = [:]
                isClearing = false
                for completion in backlog.finishClear().completions { completion() }
            }
            func check() {
                for key in ["a", "b", "c"] {
                    let seen = pending(backlog, key)
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
                    _ = backlog.submit(write("\(step)"), forKey: key, completion: log.entry("x"))
                case 6..<8:
                    submitted += 1
                    model[key] = nil
                    _ = backlog.submit(.remove, forKey: key, completion: log.entry("x"))
                case 8 where step % 3 == 0:
                    submitted += 1
                    model = [:]
                    _ = backlog.requestClear(completion: log.entry("x"))
                case 9..<14: if let work = backlog.begin(key) { running[key] = work }
                case 14: if backlog.beginClear() { isClearing = true }
                case 15: if isClearing { finishClear() }
                default: if running[key] != nil { finishOne(key) }
                }
                check()
            }
            for _ in 0..<10 {
                if isClearing { finishClear() }
                for key in Array(running.keys) { finishOne(key) }
                if backlog.beginClear() { isClearing = true }
                for key in ["a", "b", "c"] { if let work = backlog.begin(key) { running[key] = work } }
            }
            #expect(backlog.isIdle)
            #expect(backlog.waitingCost == 0)
            #expect(log.all.count == submitted)
            #expect(disk == model)
        }
    }
}

@Suite struct PendingResultTests {
    @Test func `A result comes once; what comes second has no effect`() {
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

    @Test func `A cancel takes the completion and the work`() {
        let queue = WorkQueue(name: "test", width: 1)
        let gate = Latch()
        queue.submit { gate.wait() }
        let ran = Lock(false)
        let result = PendingResult<Int> { _ in }
        result.attach(queue.submit { ran.withLock { $0 = true } })
        #expect(result.cancel() != nil)
        #expect(result.isCancelled)
        // Attached after the cancel: taken out as well.
        result.attach(queue.submit { ran.withLock { $0 = true } })
        gate.open()
        let end = Latch()
        queue.submit { end.open() }
        end.wait()
        #expect(!ran.withLock { $0 })
    }
}

@Suite struct LatchTests {
    @Test func `A wait ends when the latch opens, or with its time`() {
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
