import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// The program with failing disks of its cache, results or sources: `Tests/FaultShim` is preloaded into it.
@Suite struct FaultyCacheTests {
    let harness = CommandLineHarness()

    private func get(_ plan: FaultPlan, _ url: URL, report: String? = nil) async throws -> ProgramRun {
        let variables = try plan.environment(directory: harness.cache, report: report)
        return try await harness.run(
            "get",
            "--cache-dir",
            harness.cache,
            "-o",
            "out.jpg",
            "\(url)",
            environment: variables
        )
    }

    private var output: Data? { try? Data(contentsOf: URL(filePath: harness.directory.path("out.jpg"))) }

    @Test(arguments: [EIO, ENOSPC, EROFS, EMFILE, ESTALE, EACCES])
    func `An image is downloaded and written for every failure of the cache's disk`(number: Int32) async throws {
        let image = try Fixtures.data("JPEG/baseline-420.jpg")
        let server = try LoopbackServer { _ in .response(body: [UInt8](image)) }
        for first in [1, 2, 3, 5, 8] {
            try? FileManager.default.removeItem(atPath: harness.cache)
            let plan = FaultPlan(.fail, Int(number), numbers: first ... .max)
            let run = try await get(plan, server.url("/\(first).jpg"))
            #expect(run.status == 0 && output == image, "from call \(first): \(run.errors)")
        }
    }

    @Test func `After a crash at any call of the cache the next run gets the image`() async throws {
        let image = try Fixtures.data("JPEG/baseline-420.jpg")
        let server = try LoopbackServer { _ in .response(body: [UInt8](image)) }
        let report = harness.directory.path("report")
        #expect(try await get(FaultPlan(.count), server.url("/a.jpg"), report: report).status == 0)
        let text = String(decoding: try Data(contentsOf: URL(filePath: report)), as: UTF8.self)
        let count = try #require(Int(text.prefix { $0 != " " }))
        #expect(count > 5)
        for number in stride(from: 1, through: count, by: 3) {
            try? FileManager.default.removeItem(atPath: harness.cache)
            let plan = FaultPlan(.dieWithin, numbers: number...number)
            _ = try await get(plan, server.url("/a.jpg"))
            let run = try await harness.run(
                "get",
                "--cache-dir",
                harness.cache,
                "-o",
                "out.jpg",
                "\(server.url("/a.jpg"))"
            )
            #expect(run.status == 0 && output == image, "call \(number): \(run.errors)")
            #expect(try await harness.run("cache", "verify", "--cache-dir", harness.cache).status == 0)
        }
    }

    @Test(arguments: [EIO, ENOSPC, EROFS], [FaultPlan.Call.open, .write, .close, .rename])
    func `A failed write of a result is an error, and nothing is left or lost`(
        number: Int32,
        call: FaultPlan.Call
    ) async throws {
        let folder = harness.directory.path("out")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        try Data("mine".utf8).write(to: URL(filePath: folder + "/gray.jpg"))
        let plan = FaultPlan(.fail, Int(number), calls: [call], numbers: 1 ... .max)
        let variables = try plan.environment(directory: folder)
        for (words, name) in [
            (["-o", folder + "/gray.jpg"], "gray.jpg"), (["-o", folder], "gray-2.jpg"),
            (["-o", folder, "--force"], "gray.jpg"),
        ] {
            let run = try await harness.run(["get", Fixtures.path("JPEG/gray.jpg")] + words, environment: variables)
            #expect(
                run.status == 1 && run.errors.contains("out/\(name): \(String(cString: strerror(number)))"),
                "\(run.errors)"
            )
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["gray.jpg"])
            #expect(try Data(contentsOf: URL(filePath: folder + "/gray.jpg")) == Data("mine".utf8))
        }
    }

    @Test func `A disk that writes a few bytes at a time gets the whole result`() async throws {
        let folder = harness.directory.path("out")
        let variables = try FaultPlan(.short, 100, calls: [.write], numbers: 1 ... .max).environment(directory: folder)
        let run = try await harness.run(
            "get",
            Fixtures.path("JPEG/gray.jpg"),
            "-o",
            folder + "/",
            environment: variables
        )
        #expect(run.status == 0, "\(run.errors)")
        #expect(try Data(contentsOf: URL(filePath: folder + "/gray.jpg")) == Fixtures.data("JPEG/gray.jpg"))
    }

    @Test func `A source with a read error is an error with its cause`() async throws {
        let folder = harness.directory.path("in")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        try Fixtures.data("JPEG/gray.jpg").write(to: URL(filePath: folder + "/a.jpg"))
        let plan = FaultPlan(.fail, Int(EIO), calls: [.read], numbers: 1 ... .max)
        for words in [["get", "in/a.jpg", "-o", "b.jpg"], ["identify", "in/a.jpg"]] {
            let run = try await harness.run(words, environment: plan.environment(directory: folder))
            #expect(run.status == 1 && run.errors.contains("Input/output error"), "\(run.errors)")
        }
        #expect(!FileManager.default.fileExists(atPath: harness.directory.path("b.jpg")))
    }
}
