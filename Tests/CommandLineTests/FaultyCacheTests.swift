import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// The program with a cache whose disk fails: `Tests/FaultShim` is preloaded into it.
@Suite struct FaultyCacheTests {
    let harness = CommandLineHarness()

    private func get(_ plan: FaultPlan, _ url: URL, report: String? = nil) throws -> ProgramRun {
        let variables = try plan.environment(directory: harness.cache, report: report)
        return try harness.run("get", "--cache-dir", harness.cache, "-o", "out.jpg", "\(url)", environment: variables)
    }

    private var output: Data? { try? Data(contentsOf: URL(filePath: harness.directory.path("out.jpg"))) }

    @Test(arguments: [EIO, ENOSPC, EROFS, EMFILE, ESTALE, EACCES])
    func `A picture is downloaded and written whatever the disk of the cache does`(number: Int32) throws {
        let picture = try Fixtures.data("JPEG/baseline-420.jpg")
        let server = try LoopbackServer { _ in .response(body: [UInt8](picture)) }
        for first in [1, 2, 3, 5, 8] {
            try? FileManager.default.removeItem(atPath: harness.cache)
            let plan = FaultPlan(.fail, Int(number), numbers: first ... .max)
            let run = try get(plan, server.url("/\(first).jpg"))
            #expect(run.status == 0 && output == picture, "from call \(first): \(run.errors)")
        }
    }

    @Test func `After a death at any call of the cache the next run gets the picture`() throws {
        let picture = try Fixtures.data("JPEG/baseline-420.jpg")
        let server = try LoopbackServer { _ in .response(body: [UInt8](picture)) }
        let report = harness.directory.path("report")
        #expect(try get(FaultPlan(.count), server.url("/a.jpg"), report: report).status == 0)
        let text = String(decoding: try Data(contentsOf: URL(filePath: report)), as: UTF8.self)
        let count = try #require(Int(text.prefix { $0 != " " }))
        #expect(count > 5)
        for number in stride(from: 1, through: count, by: 3) {
            try? FileManager.default.removeItem(atPath: harness.cache)
            let plan = FaultPlan(.dieWithin, numbers: number...number)
            _ = try get(plan, server.url("/a.jpg"))
            let run = try harness.run("get", "--cache-dir", harness.cache, "-o", "out.jpg", "\(server.url("/a.jpg"))")
            #expect(run.status == 0 && output == picture, "call \(number): \(run.errors)")
            #expect(try harness.run("cache", "verify", "--cache-dir", harness.cache).status == 0)
        }
    }
}
