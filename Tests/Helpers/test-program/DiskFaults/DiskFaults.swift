import CTestSupport
import FoundationEssentials
import Glibc
import TestSupport
import WebImage

/// Works on a cache directory while its disk fails, with the library of Tests/FaultShim preloaded, and prints what came of it: a line for
/// each way of failing, and one that begins with FAILED for everything that should not have come. Exit 1 for any of those.
///
///     disk-faults store DIRECTORY OTHER STRIDE [NAME]…   goes through the calls that the steps of FaultOperation.workload make on files
///                                                        below DIRECTORY, every STRIDE-th of them, and disturbs each in every way
///                                                        (or in those that are named); OTHER should be on another file system
///     disk-faults load DIRECTORY STRIDE [NAME]…          the same with images that a manager loads from a server
///     disk-faults limited DIRECTORY KIND                 a cache in a process at its bound of descriptors, memory or file-size
///     disk-faults slow DIRECTORY                         prints in which order things come while the disk is slow
///     disk-faults load-once DIRECTORY                    loads the images once, and prints "ok" if they are what they should be
enum DiskFaults {
    static func run(_ arguments: [String]) throws {
        switch (arguments.first, arguments.count) {
        case ("store", 4...):
            let stride = try stride(arguments[3])
            var runs = StoreRuns(directory: arguments[1], other: arguments[2], stride: stride)
            for disturbance in Disturbance.chosen(arguments.dropFirst(4)) { runs.run(disturbance) }
            exit(runs.failureCount == 0 ? 0 : 1)
        case ("load", 3...):
            let stride = try stride(arguments[2])
            exitProgram {
                let runs = try LoadRuns(directory: arguments[1], stride: stride)
                var failures = 0
                for disturbance in Disturbance.chosen(arguments.dropFirst(3)) where !disturbance.isDeadly {
                    failures += await runs.run(disturbance)
                }
                return failures == 0 ? 0 : 1
            }
        case ("load-once", 2):
            exitProgram {
                let failures = await (try LoadRuns(directory: arguments[1], stride: 1)).loadAll()
                for failure in failures { printLine("FAILED \(failure)") }
                if failures.isEmpty { printLine("ok") }
                return failures.isEmpty ? 0 : 1
            }
        case ("limited", 3):
            let failures = LimitedRun(directory: arguments[1]).run(arguments[2])
            printLine(failures.isEmpty ? "ok" : "FAILED \(failures)")
            exit(failures.isEmpty ? 0 : 1)
        case ("slow", 2):
            guard FaultPlan.isAvailable else { throw UsageError() }
            exitProgram {
                for line in try await SlowRun.run(arguments[1]) { printLine(line) }
                return 0
            }
        default: throw UsageError()
        }
    }

    /// The distance between the disturbed calls, which is impossible without the preloaded library.
    private static func stride(_ text: String) throws -> Int {
        guard FaultPlan.isAvailable, let stride = Int(text), stride > 0 else { throw UsageError() }
        return stride
    }
}

/// A cache in a process at one of its limits: operations that need more are misses or not stored, and all is well once
/// the limit is lifted.
private struct LimitedRun {
    private let cache: DiskCache
    private let key = HammerImage.key(1)
    private let bytes = HammerImage.bytes(1, version: 1)

    init(directory: String) {
        cache = DiskCache(path: directory)
        cache.store(bytes, forKey: key)
    }

    /// Returns the errors.
    func run(_ kind: String) -> [String] {
        var wrong: [String] = []
        let open = ctest_open_descriptors(nil)
        switch kind {
        case "descriptors": wrong += descriptors()
        case "memory": wrong += memory()
        case "file-size": wrong += fileSize()
        default: wrong.append("no such bound")
        }
        ctest_limit(.max, .max, .max)
        if ctest_open_descriptors(nil) != open { wrong.append("files were left open") }
        if cache.data(forKey: key) != bytes { wrong.append("a stored entry is gone") }
        if !cache.store(bytes, forKey: "after") { wrong.append("nothing can be stored afterwards") }
        if !cache.verify().isEmpty { wrong.append("an entry is damaged") }
        return wrong
    }

    private func descriptors() -> [String] {
        // Only the three standard streams are allowed.
        ctest_limit(3, -1, -1)
        var wrong: [String] = []
        for number in 0..<100 {
            if cache.store(bytes, forKey: "\(number)") { wrong.append("\(number) was stored") }
            if cache.data(forKey: key) != nil { wrong.append("there was a hit") }
        }
        if cache.removeExpiredData().isComplete { wrong.append("a pass did not say that it could not be made") }
        if cache.usage().count != 0 || !cache.entries().isEmpty { wrong.append("something was listed") }
        if cache.lastError == nil { wrong.append("no completion was called") }
        return wrong
    }

    private func memory() -> [String] {
        let size = 96 << 20
        let isStored = cache.store(Data(repeating: 5, count: size), forKey: "big")
        ctest_limit(-1, ProcessStatus.bytes("VmSize") + 32 << 20, -1)
        var wrong: [String] = isStored ? [] : ["the big entry was not stored"]
        for _ in 0..<3 where cache.data(forKey: "big") != nil { wrong.append("there was memory") }
        if cache.data(forKey: key) != bytes { wrong.append("a small entry is a miss") }
        ctest_limit(-1, .max, -1)
        if cache.data(forKey: "big")?.count != size { wrong.append("the big entry was lost") }
        return wrong
    }

    private func fileSize() -> [String] {
        ctest_limit(-1, -1, 100_000)
        var wrong: [String] = []
        if cache.store(Data(repeating: 5, count: 200_000), forKey: "big") { wrong.append("too much was stored") }
        if cache.data(forKey: "big") != nil { wrong.append("too much is there") }
        if !cache.store(bytes, forKey: "small") { wrong.append("a small entry was not stored") }
        return wrong
    }
}
