import FoundationEssentials
import Glibc
import TestSupport
import Testing
import WebImage

/// Every call that a cache makes on its directory fails, or is the last of its process; then the directory is opened
/// again and compared with a model of its allowed contents. `Documentation/Faults.md` says how to disturb all calls
/// instead of some.
@Suite(.timeLimit(.minutes(60))) struct FaultWalkTests {
    private let directory = TemporaryDirectory()
    private let memory = MemoryDirectory()

    @Test(arguments: Disturbance.all)
    func `A cache survives a fault at any call, with nothing mixed, lost without need, or left behind`(
        disturbance: Disturbance
    ) async throws {
        // Entries are moved in from another file system, or from the same one, by turns.
        let stride = FaultHelper.stride(11)
        let arguments = ["store", memory.path + "/base", directory.path("other"), "\(stride)", disturbance.name]
        let run = try await FaultHelper.run(arguments)
        #expect(run.status == 0, "\(run.output) \(run.errors)")
        let words = run.lines.last?.split(separator: " ") ?? []
        // "…: 712 calls, 65 runs, 0 failures, …"
        let runs = words.firstIndex { $0.hasPrefix("runs") }.flatMap { Int(words[$0 - 1]) }
        #expect((runs ?? 0) >= 3, "\(run.output)")
        print("fault:", run.lines.last ?? "")
    }

    @Test(arguments: [
        "EIO from then on", "ENOSPC from then on", "EROFS from then on", "EMFILE from then on", "ESTALE once",
    ])
    func `A load through the manager returns the image whatever the disk does`(name: String) async throws {
        let run = try await FaultHelper.run(["load", memory.path + "/base", "\(FaultHelper.stride(40))", name])
        #expect(run.status == 0, "\(run.output) \(run.errors)")
        #expect(run.lines.contains { $0.contains(" 0 failures") })
        print("fault:", run.lines.last ?? "")
    }

    @Test(arguments: [FaultPlan.Action.dieBefore, .dieAfter, .dieWithin])
    func `After a crash during loads the next process has all images`(action: FaultPlan.Action) async throws {
        let base = directory.path("base")
        let arguments = ["disk-faults", "load-once", base]
        mkdir(base, 0o700)
        let report = directory.path("report")
        var environment = try FaultPlan(.count).environment(directory: base, report: report)
        let counted = try await ProgramRun.run(ProgramRun.product("test-program"), arguments, environment: environment)
        #expect(counted.status == 0, "\(counted.output) \(counted.errors)")
        let text = String(decoding: try Data(contentsOf: URL(filePath: report)), as: UTF8.self)
        let count = try #require(Int(text.prefix { $0 != " " }))
        #expect(count > 100)
        var deaths = 0
        for number in stride(from: 1, through: count, by: FaultHelper.stride(count / 8)) {
            try FileManager.default.removeItem(atPath: base)
            mkdir(base, 0o700)
            environment = try FaultPlan(action, numbers: number...number).environment(directory: base)
            let first = try await ProgramRun.run(
                ProgramRun.product("test-program"),
                arguments,
                environment: environment
            )
            if first.status == 128 + SIGKILL { deaths += 1 }
            let next = try await ProgramRun.run(ProgramRun.product("test-program"), arguments)
            #expect(next.status == 0 && next.lines == ["ok"], "call \(number): \(next.output) \(next.errors)")
        }
        #expect(deaths >= 4)
    }

    @Test func `No call waits for the disk to have written, so none can fail there unseen`() async throws {
        let base = directory.path("base")
        mkdir(base, 0o700)
        let report = directory.path("report")
        let plan = FaultPlan(.count, calls: [.sync])
        let environment = try plan.environment(directory: base, report: report)
        let run = try await ProgramRun.run(
            ProgramRun.product("test-program"),
            ["disk-faults", "load-once", base],
            environment: environment
        )
        #expect(run.status == 0)
        let text = String(decoding: try Data(contentsOf: URL(filePath: report)), as: UTF8.self)
        #expect(text.hasPrefix("0 "))
    }
}
