import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageCache

@Suite struct ExtendedDataQueueTests {
    private let queue = WriteBehindBox()
    private let count = Lock(0)

    private var done: WriteBehindQueue.Completion {
        let count = count
        return { count.withLock { $0 += 1 } }
    }
    private func write(_ text: String, _ extended: String? = nil) -> DiskWork {
        .store(.entry(CachedImageData(data: Data(text.utf8), extendedData: extended.map { Data($0.utf8) })))
    }
    private func amend(_ text: String?) -> DiskWork {
        .amend(EntryAmendment(extendedData: .some(text.map { Data($0.utf8) })))
    }
    private func submit(_ work: DiskWork, replacing: Bool = true) -> Bool {
        queue.submit(work, forKey: "k", replacing: replacing, completion: done)
    }
    private func finish() { for completion in queue.finish("k").completions { completion() } }

    /// A reader's view: image and extended data, with `disk` on disk.
    private func seen(_ disk: CachedImageData? = nil, replacing: Bool = true) -> String? {
        let pending = queue.pending("k", replacing: replacing)
        let entry = pending.hidesDisk ? nil : disk?.amended(by: pending.amendment)
        guard let entry = entry ?? pending.source?.entry else { return nil }
        return String(decoding: entry.data + Data(":".utf8) + (entry.extendedData ?? Data()), as: UTF8.self)
    }

    @Test func `A change becomes part of a pending write`() {
        #expect(submit(write("a")))
        #expect(!submit(amend("x")))
        #expect(seen() == "a:x")
        #expect(!submit(amend(nil)))
        #expect(seen() == "a:")
        #expect(!submit(amend("yy")))
        #expect(queue.waitingCost == 3)
        guard case .store(.entry(let entry)) = queue.begin("k") else {
            Issue.record("a write runs")
            return
        }
        #expect(entry.extendedData == Data("yy".utf8))
        finish()
        #expect(count.withLock { $0 } == 4)
        #expect(queue.isIdle)
    }

    @Test func `A change becomes part of an image that waits for its encoding, or is being encoded`() {
        let coder = FakeCoder()
        let image = PendingImage(image: FakeCoder.image(), options: ImageEncodeOptions(), coder: coder)
        #expect(submit(.store(.image(image))))
        #expect(!submit(amend("x")))
        #expect(queue.pending("k").source?.content.extendedData == Data("x".utf8))
        guard case .store(.image(let pending)) = queue.begin("k") else {
            Issue.record("an image is encoded")
            return
        }
        #expect(!submit(amend("y")))
        #expect(queue.pending("k").source?.content.extendedData == Data("y".utf8))
        #expect(queue.finishEncoding(pending.encoded(), "k").keys == ["k"])
        #expect(queue.pending("k").source?.entry?.extendedData == Data("y".utf8))
        #expect(count.withLock { $0 } == 0)
        guard case .store(.entry(let entry)) = queue.begin("k") else {
            Issue.record("a write runs")
            return
        }
        #expect(entry.extendedData == Data("y".utf8))
        finish()
        #expect(count.withLock { $0 } == 3)
    }

    @Test func `A change after a pending removal completes with it`() {
        #expect(submit(.remove))
        #expect(!submit(amend("x")))
        #expect(seen(CachedImageData(data: Data("old".utf8))) == nil)
        guard case .remove = queue.begin("k", replacing: false) else {
            Issue.record("the removal stays")
            return
        }
        finish()
        #expect(count.withLock { $0 } == 2)
        #expect(queue.isIdle)
    }

    @Test func `A change waits for running work, and is visible at once`() {
        let disk = CachedImageData(data: Data("old".utf8), extendedData: Data("e".utf8))
        #expect(submit(write("a", "e")))
        #expect(queue.begin("k") != nil)
        #expect(!submit(amend("x")))
        #expect(seen(disk) == "a:x")
        #expect(queue.begin("k") == nil)
        #expect(queue.finish("k").keys == ["k"])
        #expect(seen(disk) == "old:x", "the entry on disk, changed")
        #expect(!submit(amend("y")))
        guard case .amend(let amendment) = queue.begin("k") else {
            Issue.record("a change runs")
            return
        }
        #expect(amendment == EntryAmendment(extendedData: Data("y".utf8)))
        #expect(seen(disk) == "old:y")
        finish()
        #expect(seen(disk) == "old:e")
    }

    @Test func `Changes of different parts do not undo each other`() {
        let validators = CacheValidators(etag: "\"1\"", lastModified: nil)
        #expect(submit(amend("x")))
        #expect(!submit(.amend(EntryAmendment(validators: validators))))
        let amendment = EntryAmendment(extendedData: Data("x".utf8), validators: validators)
        #expect(queue.pending("k").amendment == amendment)
        let entry = CachedImageData(data: Data(), extendedData: Data("e".utf8)).amended(by: amendment)
        #expect(entry == CachedImageData(data: Data(), extendedData: Data("x".utf8), validators: validators))
        #expect(entry.amended(by: EntryAmendment(validators: .some(nil))).validators == nil)
        #expect(entry.amended(by: EntryAmendment()) == entry)
        // A write replaces everything.
        #expect(!submit(write("b")))
        #expect(seen() == "b:")
    }

    @Test func `A dropped change leaves the entry unchanged`() {
        _ = queue.submit(amend("0123456789"), forKey: "k", costLimit: 10, completion: nil)
        _ = queue.submit(write("0123456789"), forKey: "other", costLimit: 10, completion: nil)
        #expect(seen(CachedImageData(data: Data("old".utf8))) == "old:")
        #expect(queue.droppedCount == 1)
    }

    @Test func `Without replacing, changes requested before a write are done before it`() {
        let disk = CachedImageData(data: Data("old".utf8))
        #expect(submit(.remove, replacing: false))
        #expect(!submit(write("a"), replacing: false))
        #expect(seen(disk, replacing: false) == "a:")
        guard case .remove = queue.begin("k", replacing: false) else {
            Issue.record("the removal comes first")
            return
        }
        #expect(count.withLock { $0 } == 0)
        finish()
        #expect(count.withLock { $0 } == 0)
        guard case .store(.entry) = queue.begin("k", replacing: false) else {
            Issue.record("then the write")
            return
        }
        finish()
        #expect(count.withLock { $0 } == 2)
        #expect(submit(amend("x"), replacing: false))
        #expect(!submit(write("b"), replacing: false))
        #expect(seen(disk, replacing: false) == "old:x")
        #expect(seen(nil, replacing: false) == "b:", "there was no entry at the time of the call")
    }

    @Test(arguments: [true, false])
    func `Under random events a reader sees the last state, and the disk ends with it`(replacing: Bool) {
        for seed in 0..<200 { RandomRun(seed: UInt64(seed), replacing: replacing).run() }
    }
}

/// Random calls to a queue, beside a model that executes each at once.
private final class RandomRun {
    private let replacing: Bool
    private let queue = WriteBehindBox()
    private var random: SeededGenerator
    private var disk: [String: CachedImageData] = [:]
    private var model: [String: CachedImageData] = [:]
    private var running: [String: DiskWork] = [:]
    private var isClearing = false
    private var submitted = 0
    private let completed = Lock(0)
    private let keys = ["a", "b", "c"]
    private let coder = FakeCoder()

    init(seed: UInt64, replacing: Bool) {
        random = SeededGenerator(seed: seed)
        self.replacing = replacing
    }

    func run() {
        for step in 0..<200 {
            self.step(step, keys.randomElement(using: &random) ?? "a")
            check()
        }
        for _ in 0..<12 {
            if isClearing { finishClear() }
            for key in Array(running.keys) { finish(key) }
            if queue.beginClear() { isClearing = true }
            for key in keys { if let work = queue.begin(key, replacing: replacing) { running[key] = work } }
        }
        #expect(queue.isIdle)
        #expect(queue.waitingCost == 0)
        #expect(completed.withLock { $0 } == submitted)
        #expect(disk == model)
    }

    private func submit(_ work: DiskWork, _ key: String) {
        submitted += 1
        let completed = completed
        _ = queue.submit(work, forKey: key, replacing: replacing) { completed.withLock { $0 += 1 } }
    }

    private func step(_ step: Int, _ key: String) {
        switch Int.random(in: 0..<24, using: &random) {
        case 0..<4:
            let entry = CachedImageData(data: Data("\(step)".utf8))
            submit(.store(.entry(entry)), key)
            store(entry, key, in: &model)
        case 4..<6:
            let image = FakeCoder.image(width: step + 1)
            let pending = PendingImage(image: image, options: ImageEncodeOptions(), coder: coder)
            submit(.store(.image(pending)), key)
            store(CachedImageData(data: FakeCoder.data(width: UInt8(step + 1))), key, in: &model)
        case 6..<10:
            let amendment = EntryAmendment(extendedData: .some(step % 5 == 0 ? nil : Data("e\(step)".utf8)))
            submit(.amend(amendment), key)
            model[key] = model[key]?.amended(by: amendment)
        case 10..<12:
            submit(.remove, key)
            model[key] = nil
        case 12 where step % 3 == 0:
            submitted += 1
            model = [:]
            let completed = completed
            _ = queue.requestClear { completed.withLock { $0 += 1 } }
        case 13..<18: if let work = queue.begin(key, replacing: replacing) { running[key] = work }
        case 18: if queue.beginClear() { isClearing = true }
        case 19: if isClearing { finishClear() }
        default: if running[key] != nil { finish(key) }
        }
    }

    private func store(_ entry: CachedImageData, _ key: String, in entries: inout [String: CachedImageData]) {
        if replacing || entries[key] == nil { entries[key] = entry }
    }

    private func finish(_ key: String) {
        let work = running.removeValue(forKey: key)
        switch work {
        case .store(.entry(let entry)): store(entry, key, in: &disk)
        case .remove: disk[key] = nil
        case .amend(let amendment): disk[key] = disk[key]?.amended(by: amendment)
        default: break
        }
        let ended =
            if case .store(.image(let image)) = work {
                queue.finishEncoding(image.encoded(), key, replacing: replacing)
            } else {
                queue.finish(key)
            }
        for completion in ended.completions { completion() }
    }

    private func finishClear() {
        disk = [:]
        isClearing = false
        for completion in queue.finishClear().completions { completion() }
    }

    private func check() {
        for key in keys {
            let pending = queue.pending(key, replacing: replacing)
            let entry = pending.hidesDisk ? nil : disk[key]?.amended(by: pending.amendment)
            #expect((entry ?? pending.source?.entry) == model[key])
        }
    }
}
