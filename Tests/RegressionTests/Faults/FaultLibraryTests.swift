import CacheTestSupport
import FoundationEssentials
import Glibc
import TestSupport
import Testing
import WebImage

@testable import WebImageModel

/// The fault library does what it says, with a program that knows nothing of it.
@Suite struct FaultLibraryTests {
    private let directory = TemporaryDirectory()
    private var base: String { directory.path("base") }
    private var report: String { directory.path("report") }

    init() { mkdir(base, 0o700) }

    /// Copies 100 000 bytes within the directory, in ten parts.
    private func copy(_ plan: FaultPlan) async throws -> (run: ProgramRun, report: [Int], size: Int) {
        writeBytes([UInt8](repeating: 7, count: 100_000), base + "/from")
        unlink(base + "/to")
        unlink(report)
        let environment = try plan.environment(directory: base, report: report)
        let run = try await ProgramRun.run(
            "/bin/dd",
            ["if=\(base)/from", "of=\(base)/to", "bs=10000"],
            environment: environment
        )
        let numbers = String(decoding: readBytes(report), as: UTF8.self).split(whereSeparator: \.isWhitespace)
        return (run, numbers.compactMap { Int($0) }, readBytes(base + "/to").count)
    }

    @Test func `Calls on the directory are counted, others are not`() async throws {
        #expect(try await copy(FaultPlan(.count, calls: [.write])).report == [10, -1])
        // That of the end is one more.
        #expect(try await copy(FaultPlan(.count, calls: [.read])).report == [11, -1])
        #expect(try await copy(FaultPlan(.count, calls: [.rename])).report == [0, -1])
    }

    @Test(arguments: [1, 4, 10]) func `Only the call with the given number fails`(number: Int) async throws {
        let plan = FaultPlan(.fail, Int(EIO), calls: [.write], numbers: number...number)
        let (run, report, size) = try await copy(plan)
        #expect(run.status == 1 && run.errors.contains(String(cString: strerror(EIO))))
        #expect(report == [number, FaultPlan.Call.write.rawValue])
        #expect(size == (number - 1) * 10_000)
    }

    @Test func `A process dies before a call, after it, or with half of it written`() async throws {
        let expected = [(FaultPlan.Action.dieBefore, 30_000), (.dieAfter, 40_000), (.dieWithin, 35_000)]
        for (action, bytes) in expected {
            let (run, _, size) = try await copy(FaultPlan(action, calls: [.write], numbers: 4...4))
            #expect(run.status == 128 + SIGKILL && size == bytes, "\(action)")
        }
        let (run, _, _) = try await copy(FaultPlan(.dieBefore, 3, calls: [.write], numbers: 4...4))
        #expect(run.status == 3)
    }

    @Test func `Partial calls are continued`() async throws {
        let (run, report, size) = try await copy(FaultPlan(.short, 1_000, calls: [.write], numbers: 2 ... .max))
        #expect(run.status == 0 && size == 100_000)
        #expect((report.first ?? 0) > 50)
    }

    @Test func `Calls on other directories are not affected`() async throws {
        let plan = FaultPlan(.fail, Int(EIO), numbers: 1 ... .max)
        let environment = try plan.environment(directory: base)
        writeBytes([1, 2, 3], directory.path("base2"))
        let run = try await ProgramRun.run("/bin/cat", [directory.path("base2")], environment: environment)
        #expect(run.status == 0 && run.output == "\u{1}\u{2}\u{3}")
        #expect(try await ProgramRun.run("/bin/ls", [base], environment: environment).status != 0)
    }
}

/// The reference model for caches detects errors.
@Suite struct FaultExpectationTests {
    private var model: FaultModel {
        var model = FaultModel()
        model.apply(.store(1, version: 1), .done)
        return model
    }

    private let first = FaultEntry(1, version: 1)
    private let second = FaultEntry(1, version: 2)

    @Test func `An entry that is not stored is not found, and a stored one is`() {
        #expect(!model.allows(nil, of: 1, isLossy: false) && model.allows(first, of: 1, isLossy: false))
        #expect(model.allows(nil, of: 2, isLossy: false) && !model.allows(second, of: 1, isLossy: true))
    }

    @Test func `After a completed store the previous image is wrong, also on a disk that loses entries`() {
        var model = model
        model.apply(.store(1, version: 2), .done)
        #expect(!model.allows(first, of: 1, isLossy: true) && model.allows(second, of: 1, isLossy: false))
        #expect(model.allows(nil, of: 1, isLossy: true) && !model.allows(nil, of: 1, isLossy: false))
    }

    @Test func `After an interrupted store both images are right, and a mixture is not`() {
        var model = model
        model.apply(.store(1, version: 2), .interrupted)
        #expect(model.allows(first, of: 1, isLossy: false) && model.allows(second, of: 1, isLossy: false))
        var mixed = second
        mixed.extended = first.extended
        #expect(!model.allows(mixed, of: 1, isLossy: true))
        #expect(!model.allows(nil, of: 1, isLossy: false))
    }

    @Test func `A refused store leaves the previous entry`() {
        var model = model
        model.apply(.store(1, version: 2), .refused)
        #expect(model.allows(first, of: 1, isLossy: false) && !model.allows(second, of: 1, isLossy: true))
    }

    @Test func `An amendment changes only its part`() {
        var model = model
        model.apply(.amend(1, round: 4), .done)
        var amended = first
        amended.round = 4
        #expect(model.entries(of: 1) == [amended])
        model.apply(.setExtendedData(1, round: 5), .disturbed)
        #expect(model.entries(of: 1).count == 2)
        model.apply(.remove(1), .done)
        #expect(model.entries(of: 1) == [nil])
    }

    @Test func `Entries are distinguished from other files`() {
        let content = first.content(number: 1)
        #expect(FaultEntry(content, number: 1) == first)
        #expect(FaultEntry(content, number: 2) == nil)
        var broken = content
        broken.data[20] ^= 1
        #expect(FaultEntry(broken, number: 1) == nil)
    }
}
