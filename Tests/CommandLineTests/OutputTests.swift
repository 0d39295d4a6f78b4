import FoundationEssentials
import Glibc
import TestSupport
import Testing

@Suite struct OutputTests {
    let harness = CommandLineHarness()

    @Test func `A device is written to and stays a device`() async throws {
        let path = harness.directory.path("pipe")
        mkfifo(path, 0o600)
        let reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        defer { close(reader) }
        #expect(try await harness.run("get", Fixtures.path("JPEG/gray.jpg"), "-o", path).status == 0)
        var status = stat()
        #expect(stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO)
        var start: [UInt8] = [0, 0]
        #expect(read(reader, &start, 2) == 2 && start == [0xFF, 0xD8])
    }

    @Test func `A full device is an error that names it`() async throws {
        let run = try await harness.run("get", Fixtures.path("JPEG/gray.jpg"), "-o", "/dev/full")
        #expect(run.status == 1 && run.errors.contains("/dev/full: No space left"))
    }

    @Test func `A directory that cannot be created is an error with the system's message`() async throws {
        let file = harness.directory.path("file")
        try Data("a".utf8).write(to: URL(fileURLWithPath: file))
        let sources = [Fixtures.path("JPEG/gray.jpg"), Fixtures.path("JPEG/photo.jpg")]
        for (path, reason) in [
            (file, "File exists"), (file + "/below", "Not a directory"), ("/proc/a", "No such file"),
        ] {
            let run = try await harness.run(["get", "-o", path] + sources)
            #expect(run.status == 64 && run.errors.contains("\(path): cannot create the directory: \(reason)"))
            #expect(!run.errors.contains("CocoaError"))
        }
    }

    @Test func `A source in the current directory is not overwritten by its thumbnail`() async throws {
        let source = harness.directory.path("gray.jpg")
        let body = try Fixtures.data("JPEG/gray.jpg")
        try body.write(to: URL(fileURLWithPath: source))
        let run = try await harness.run("get", "gray.jpg", "-t", "10")
        #expect(run.status == 0 && run.output.hasPrefix("gray-2.jpg"))
        #expect(try Data(contentsOf: URL(fileURLWithPath: source)) == body)
        #expect(try await harness.run("get", "gray.jpg", "-t", "10", "-o", "gray.jpg").status == 0, "it is named")
        #expect(try Data(contentsOf: URL(fileURLWithPath: source)) != body)
    }

    @Test func `A symbolic link is followed`() async throws {
        symlink("real.png", harness.directory.path("link.png"))
        try Data("old".utf8).write(to: URL(fileURLWithPath: harness.directory.path("real.png")))
        #expect(try await harness.run("get", Fixtures.path("JPEG/gray.jpg"), "-o", "link.png").status == 0)
        #expect(try Data(contentsOf: URL(fileURLWithPath: harness.directory.path("real.png"))).count > 100)
    }

    @Test func `A list may begin with a byte order mark, and an unsupported scheme is named`() async throws {
        let body = try fixtureBytes("JPEG/gray.jpg")
        let server = try LoopbackServer { _ in .response(body: body) }
        let run = try await harness.run(
            "prefetch",
            "-",
            "--cache-dir",
            harness.cache,
            input: "\u{FEFF}\(server.url("/a.jpg"))\r\nftp://host/a.jpg\r\n"
        )
        #expect(run.output.hasPrefix("1 images") && run.errors.contains("ftp"))
        #expect(!run.errors.contains(server.url("/a.jpg").absoluteString))
    }

    @Test func `Options that an action does not take, and lossless JPEG, are usage errors`() async throws {
        #expect(try await harness.run("cache", "stats", "--max-age", "5").status == 64)
        #expect(try await harness.run("get", "a", "--lossless", "-o", "b.jpg").status == 64)
        let run = try await harness.run("get", Fixtures.path("JPEG/gray.jpg"), "--lossless", "-o", "out/")
        #expect(run.output.hasPrefix("out/gray.webp"))
    }

    @Test func `Control characters of a source do not reach the terminal`() async throws {
        let run = try await harness.run("get", "a\u{1B}[31mb.jpg")
        #expect(run.status == 1 && !run.errors.contains("\u{1B}"))
    }
}
