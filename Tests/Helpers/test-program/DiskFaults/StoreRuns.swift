import CTestSupport
import FoundationEssentials
import Glibc
import TestSupport
import WebImage

extension Disturbance {
    /// The named ones, or all.
    static func chosen(_ names: some Collection<String>) -> [Disturbance] {
        names.isEmpty ? all : all.filter { names.contains($0.name) }
    }
}

/// Goes through the calls of the usual steps and disturbs one after the other.
struct StoreRuns {
    private let base: String
    private let other: String
    private let stride: Int
    /// Numbers of the last begun and the last finished step, which copies of this process write.
    private let progress: UnsafeMutablePointer<Int>
    private(set) var failureCount = 0

    init(directory: String, other: String, stride: Int) {
        (base, self.other, self.stride) = (directory, other, stride)
        guard let numbers = ctest_shared_numbers(2) else { exit(71) }
        progress = numbers
    }

    mutating func run(_ disturbance: Disturbance) {
        let begun = ContinuousClock.now
        let index = Disturbance.all.firstIndex { $0.name == disturbance.name } ?? 0
        // With each second one the moved entries are from the same file system.
        let source = index.isMultiple(of: 2) ? base + "/old" : other
        let failed = failureCount
        let count = undisturbed(disturbance, source)
        var runs = 0
        // Of few calls all are disturbed.
        let step = min(stride, max(count / 40, 1))
        for number in Swift.stride(from: 1 + index % step, through: count, by: step) {
            // A run that takes so long hangs.
            alarm(30)
            runs += 1
            if disturbance.isDeadly {
                die(disturbance, at: number, source)
            } else {
                fail(disturbance, at: number, source)
            }
        }
        alarm(0)
        let time = begun.duration(to: .now)
        printLine("\(disturbance): \(count) calls, \(runs) runs, \(failureCount - failed) failures, \(time)")
    }

    private mutating func note(_ failures: [String], _ disturbance: Disturbance, _ number: Int) {
        failureCount += failures.count
        for failure in failures.prefix(3) { printLine("FAILED \(disturbance) at call \(number): \(failure)") }
    }

    /// Counts the calls that a disturbance could affect; everything has to be correct.
    private mutating func undisturbed(_ disturbance: Disturbance, _ source: String) -> Int {
        let session = StoreSession(base: base, source: source)
        session.prepare()
        disturbance.plan(at: .max - 10).begin(in: base)
        let model = session.work(progress: progress)
        let count = FaultPlan.end().count
        note(session.check(model, isLossy: false), disturbance, 0)
        return count
    }

    /// The calls fail, and the process continues.
    private mutating func fail(_ disturbance: Disturbance, at number: Int, _ source: String) {
        let session = StoreSession(base: base, source: source)
        session.prepare()
        disturbance.plan(at: number).begin(in: base)
        let model = session.work(progress: progress, isHarmless: disturbance.isHarmless)
        let (_, call) = FaultPlan.end()
        let failures = session.check(model, isLossy: call != nil && !disturbance.isHarmless)
        note(failures.map { "\($0), after a failed \(call.map { "\($0)" } ?? "nothing")" }, disturbance, number)
    }

    /// A copy of this process ends at the call.
    private mutating func die(_ disturbance: Disturbance, at number: Int, _ source: String) {
        let session = StoreSession(base: base, source: source)
        session.prepare()
        (progress[0], progress[1]) = (-1, -1)
        let copy = ctest_fork()
        guard copy >= 0 else { return note(["no fork: \(errno)"], disturbance, number) }
        if copy == 0 {
            alarm(20)
            disturbance.plan(at: number).begin(in: base)
            _ = session.work(progress: progress)
            _exit(0)
        }
        var status: Int32 = 0
        while waitpid(copy, &status, 0) < 0, errno == EINTR {}
        guard status & 0x7F == SIGKILL || status == 0 else {
            return note(["it ended with \(status)"], disturbance, number)
        }
        var model = FaultModel()
        for (step, operation) in FaultOperation.workload.enumerated() where step <= progress[0] {
            model.apply(operation, step <= progress[1] ? .done : .interrupted)
        }
        note(session.check(model, isLossy: false), disturbance, number)
    }
}

/// One run of the usual steps in a separate directory, and a check of the result.
private struct StoreSession {
    private let base: String
    private let source: String
    private let clock = ManualClock()
    private var path: String { base + "/cache" }

    init(base: String, source: String) { (self.base, self.source) = (base, source) }

    /// Empties the directories, and creates the entries that are moved in.
    func prepare() {
        for directory in [base, source] { try? FileManager.default.removeItem(atPath: directory) }
        mkdir(base, 0o700)
        let moved = DiskCache(path: source, config: Self.config, clock: clock.source)
        for operation in FaultOperation.workload {
            guard case .migrate(let numbers) = operation else { continue }
            for number in numbers {
                moved.store(FaultEntry(number, version: 1).content(number: number), forKey: HammerImage.key(number))
            }
        }
    }

    private static var config: ImageCacheConfig { ImageCacheConfig() }

    private func open() -> DiskCache { DiskCache(path: path, config: Self.config, clock: clock.source) }

    /// Executes the steps. Returns the allowed contents; meaningless where the process ends in between.
    func work(progress: UnsafeMutablePointer<Int>, isHarmless: Bool = false) -> FaultModel {
        var model = FaultModel()
        var cache = open()
        for (step, operation) in FaultOperation.workload.enumerated() {
            progress[0] = step
            let isStored = perform(operation, &cache)
            progress[1] = step
            if !isStored {
                // An event that a system may cause at any time must not prevent a store.
                model.apply(operation, isHarmless ? .done : .refused)
            } else if case .store = operation {
                model.apply(operation, .done)
            } else {
                model.apply(operation, ctest_disturbed_fault() >= 0 && !isHarmless ? .disturbed : .done)
            }
        }
        return model
    }

    /// False for a store that reports that nothing was stored.
    private func perform(_ operation: FaultOperation, _ cache: inout DiskCache) -> Bool {
        switch operation {
        case .store(let number, let version):
            let entry = FaultEntry(number, version: version).content(number: number)
            return cache.store(entry, forKey: HammerImage.key(number))
        case .amend(let number, let round):
            let validators = FaultEntry.validators(number: number, round: round)
            cache.amend(extendedData: nil, validators: validators, forKey: HammerImage.key(number))
        case .setExtendedData(let number, let round):
            cache.setExtendedData(Data("again \(round)".utf8), forKey: HammerImage.key(number))
        case .read(let number):
            _ = cache.entry(forKey: HammerImage.key(number))
            _ = cache.validators(forKey: HammerImage.key(number))
        case .remove(let number): cache.removeData(forKey: HammerImage.key(number))
        case .look:
            _ = cache.usage()
            _ = cache.entries()
            _ = cache.verify()
        case .removeAll: cache.removeAllData()
        case .migrate: DiskCache.moveDirectory(from: source, to: path)
        case .reopen: cache = open()
        case .limit(let bytes): cache.config.maxDiskSize = bytes
        case .expire(let seconds):
            clock.advance(seconds)
            cache.removeExpiredData()
        }
        return true
    }

    /// Opens the directory again and checks everything in it. Returns the errors.
    func check(_ model: FaultModel, isLossy: Bool) -> [String] {
        var wrong: [String] = []
        if ctest_open_descriptors(base) != 0 { wrong.append("files were left open") }
        // Files left by killed writers are old by now.
        clock.advance(2_000)
        var cache = open()
        for number in FaultOperation.numbers {
            guard let content = cache.entry(forKey: HammerImage.key(number)) else {
                if !model.allows(nil, of: number, isLossy: isLossy) { wrong.append("\(number) is gone") }
                continue
            }
            guard let entry = FaultEntry(content, number: number) else {
                wrong.append("\(number) is mixed")
                continue
            }
            if !model.allows(entry, of: number, isLossy: isLossy) {
                wrong.append("\(number) is \(entry), not \(model.entries(of: number))")
            }
        }
        if cache.statistics.damagedCount != 0 { wrong.append("an entry was damaged") }
        let damaged = cache.verify()
        if !damaged.isEmpty { wrong.append("an entry is damaged: \(damaged)") }
        wrong += leftovers()
        wrong += limits(&cache)
        return wrong
    }

    private func leftovers() -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        return names.filter { $0.hasPrefix(".webimage-") }.map { "\($0) was left behind" }
    }

    /// The directory works as before, and a new limit is obeyed.
    private func limits(_ cache: inout DiskCache) -> [String] {
        var wrong: [String] = []
        cache.config.maxDiskSize = 40_000
        // The newest is removed last.
        clock.advance(10)
        let entry = FaultEntry(3, version: 9)
        if !cache.store(entry.content(number: 3), forKey: HammerImage.key(3)) {
            wrong.append("nothing can be stored: \(cache.lastError.map { "\($0)" } ?? "")")
        }
        if cache.entry(forKey: HammerImage.key(3)).flatMap({ FaultEntry($0, number: 3) }) != entry {
            wrong.append("a stored entry is missing")
        }
        cache.removeExpiredData()
        let size = cache.entries().reduce(0) { $0 + $1.allocatedSize }
        if size > 40_000 { wrong.append("\(size) bytes are over the limit") }
        return wrong
    }
}
