import FoundationEssentials
import Glibc
import TestSupport
import Testing
import WebImage

/// What others put into the directory of the results, and what sources are called.
@Suite struct OutputSafetyTests {
    let harness = CommandLineHarness()
    /// A control of the second set, marks of direction and separators of lines, as UTF-8 in a URL.
    private static let marks = "%C2%9B31m%E2%80%AE%E2%80%A8%1B%5B31m"

    private func file(_ name: String, _ text: String) throws -> String {
        try Data(text.utf8).write(to: URL(fileURLWithPath: harness.directory.path(name)))
        return harness.directory.path(name)
    }

    private func bytes(_ name: String) throws -> Data {
        try Data(contentsOf: URL(fileURLWithPath: harness.directory.path(name)))
    }

    private func kind(_ name: String) -> mode_t? {
        var status = stat()
        return lstat(harness.directory.path(name), &status) == 0 ? status.st_mode & S_IFMT : nil
    }

    // MARK: Files

    @Test func `A link in wait under the name of a temporary file leads nowhere`() throws {
        let victim = try file("victim", "precious")
        let shell = try ProgramRun("/bin/sh", ["-c", "echo $$"])
        let next = try #require(Int(shell.output.filter(\.isNumber)))
        for number in next..<next + 3000 {
            symlink(victim, harness.directory.path("a.jpg.\(number).part"))
        }
        #expect(try harness.run("get", Fixtures.path("JPEG/gray.jpg"), "-o", "a.jpg").status == 0)
        #expect(kind("a.jpg") == S_IFREG)
        #expect(try bytes("victim") == Data("precious".utf8))
        #expect(try bytes("a.jpg") == Fixtures.data("JPEG/gray.jpg"))
    }

    @Test func `What exists is not overwritten under a name that a source chose, unless that is wanted`() throws {
        let body = try Fixtures.data("JPEG/gray.jpg")
        _ = try file("victim", "precious")
        _ = try file("a.jpg", "mine")
        symlink("victim", harness.directory.path("b.jpg"))
        symlink("nowhere", harness.directory.path("c.jpg"))
        mkfifo(harness.directory.path("d.jpg"), 0o600)
        let server = try LoopbackServer { _ in .response(body: [UInt8](body)) }
        let urls = ["a", "b", "c", "d"].map { server.url("/\($0).jpg").absoluteString }
        let run = try harness.run(["get", "--no-cache", "-j", "1"] + urls)
        #expect(
            run.status == 0 && run.lines.map { String($0.prefix(7)) } == ["a-2.jpg", "b-2.jpg", "c-2.jpg", "d-2.jpg"]
        )
        for name in ["a-2.jpg", "b-2.jpg", "c-2.jpg", "d-2.jpg"] { #expect(try bytes(name) == body) }
        #expect(try bytes("a.jpg") == Data("mine".utf8) && bytes("victim") == Data("precious".utf8))
        #expect(kind("c.jpg") == S_IFLNK && kind("nowhere") == nil && kind("d.jpg") == S_IFIFO)
        #expect(try harness.run(["get", "--no-cache", "--force"] + urls).status == 0)
        for name in ["a.jpg", "b.jpg", "c.jpg", "d.jpg"] {
            #expect(kind(name) == S_IFREG)
            #expect(try bytes(name) == body)
        }
        #expect(try bytes("victim") == Data("precious".utf8))
        let left = try FileManager.default.contentsOfDirectory(atPath: harness.directory.path)
        #expect(left.allSatisfy { !$0.hasSuffix(".part") })
    }

    @Test func `A pipe that nobody reads is an error and not a wait`() throws {
        mkfifo(harness.directory.path("pipe"), 0o600)
        let run = try harness.run("get", Fixtures.path("JPEG/gray.jpg"), "-o", "pipe")
        #expect(run.status == 1 && run.errors.contains("pipe: nobody reads from it"), "\(run.errors)")
        let source = try harness.run("get", "pipe")
        #expect(source.status == 1 && source.errors.contains("not a regular file"))
    }

    @Test(arguments: [("-", Int32(64)), ("/dev/stdout", 1)])
    func `A terminal gets no image bytes`(output: String, status: Int32) throws {
        let run = try TerminalRun(
            ProgramRun.product("webimage"),
            ["get", Fixtures.path("JPEG/gray.jpg"), "-o", output],
            environment: ["XDG_CACHE_HOME": harness.directory.path("xdg"), "TERM": "dumb"]
        )
        #expect(run.finish() == status)
        #expect(run.text.contains("is a terminal"))
        #expect(!run.output.contains(0xFF), "a JPEG begins with it")
    }
}
