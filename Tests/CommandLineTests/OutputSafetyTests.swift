import FoundationEssentials
import Glibc
import TestSupport
import Testing
import WebImage

/// Hostile files in the directory of the results, and hostile names of sources.
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

    @Test func `A symbolic link planted under a temporary file's name is not followed`() async throws {
        let victim = try file("victim", "precious")
        let shell = try await ProgramRun.run("/bin/sh", ["-c", "echo $$"])
        let next = try #require(Int(shell.output.filter(\.isNumber)))
        for number in next..<next + 3000 {
            symlink(victim, harness.directory.path("a.jpg.\(number).part"))
        }
        #expect(try await harness.run("get", Fixtures.path("JPEG/gray.jpg"), "-o", "a.jpg").status == 0)
        #expect(kind("a.jpg") == S_IFREG)
        #expect(try bytes("victim") == Data("precious".utf8))
        #expect(try bytes("a.jpg") == Fixtures.data("JPEG/gray.jpg"))
    }

    @Test func `An existing file is not overwritten under a name chosen by a source, unless requested`() async throws {
        let body = try Fixtures.data("JPEG/gray.jpg")
        _ = try file("victim", "precious")
        _ = try file("a.jpg", "mine")
        symlink("victim", harness.directory.path("b.jpg"))
        symlink("nowhere", harness.directory.path("c.jpg"))
        mkfifo(harness.directory.path("d.jpg"), 0o600)
        let server = try LoopbackServer { _ in .response(body: [UInt8](body)) }
        let urls = ["a", "b", "c", "d"].map { server.url("/\($0).jpg").absoluteString }
        let run = try await harness.run(["get", "--no-cache", "-j", "1"] + urls)
        #expect(
            run.status == 0 && run.lines.map { String($0.prefix(7)) } == ["a-2.jpg", "b-2.jpg", "c-2.jpg", "d-2.jpg"]
        )
        for name in ["a-2.jpg", "b-2.jpg", "c-2.jpg", "d-2.jpg"] { #expect(try bytes(name) == body) }
        #expect(try bytes("a.jpg") == Data("mine".utf8) && bytes("victim") == Data("precious".utf8))
        #expect(kind("c.jpg") == S_IFLNK && kind("nowhere") == nil && kind("d.jpg") == S_IFIFO)
        #expect(try await harness.run(["get", "--no-cache", "--force"] + urls).status == 0)
        for name in ["a.jpg", "b.jpg", "c.jpg", "d.jpg"] {
            #expect(kind(name) == S_IFREG)
            #expect(try bytes(name) == body)
        }
        #expect(try bytes("victim") == Data("precious".utf8))
        let left = try FileManager.default.contentsOfDirectory(atPath: harness.directory.path)
        #expect(left.allSatisfy { !$0.hasSuffix(".part") })
    }

    @Test func `A pipe without a reader is an error and does not block`() async throws {
        mkfifo(harness.directory.path("pipe"), 0o600)
        let run = try await harness.run("get", Fixtures.path("JPEG/gray.jpg"), "-o", "pipe")
        #expect(run.status == 1 && run.errors.contains("pipe: no process reads from it"), "\(run.errors)")
        let source = try await harness.run("get", "pipe")
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

    // MARK: Names

    /// Characters that a terminal would obey, or that change how a line reads.
    private func isPlain(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { scalar in
            scalar == "\n"
                || scalar.value >= 0x20 && !(0x7F...0x9F).contains(scalar.value)
                    && ![0x2028, 0x2029].contains(scalar.value) && !(0x202A...0x202E).contains(scalar.value)
                    && !(0x2066...0x2069).contains(scalar.value)
        }
    }

    @Test func `Names and lines about a source contain no terminal controls`() async throws {
        let body = try fixtureBytes("JPEG/gray.jpg")
        let server = try LoopbackServer { $0.path.hasSuffix(".gif") ? .response(404) : .response(body: body) }
        let urls = ["jpg", "gif"].map { server.url("/a\(Self.marks).\($0)").absoluteString }
        let run = try await harness.run(["get", "--no-cache", "--explain", "-o", "out"] + urls)
        #expect(isPlain(run.output) && isPlain(run.errors))
        let names = try FileManager.default.contentsOfDirectory(atPath: harness.directory.path("out"))
        #expect(names == ["a_31m___[31m.jpg"])
        let typed = "b\u{9B}31m\u{202E}\u{2066}\u{2029}\u{7F}.jpg"
        for words in [
            ["get", typed], ["identify", typed], ["show", typed], ["cache", "path", typed], ["cache", typed],
        ] {
            let run = try await harness.run(words)
            #expect(run.status != 0 && isPlain(run.errors) && isPlain(run.output), "\(words)")
        }
    }

    @Test func `JSON escapes terminal controls, and keeps the value`() async throws {
        let typed = "b\u{9B}31m\u{202E}\u{2066}\u{2028}\u{7F}\u{1B}\u{E0041}.jpg"
        let run = try await harness.run("get", "--json", typed)
        #expect(run.status == 1 && isPlain(run.output))
        #expect(run.output.contains("\\u009b31m\\u202e") && run.output.contains("\\udb40\\udc41"))
        let object = try #require(try CommandLineHarness.objects(run).first)
        #expect(object.source.map { Array($0.unicodeScalars) } == Array(typed.unicodeScalars))
    }

    @Test func `A key in the list of the cache cannot control the terminal`() async throws {
        let cache = DiskCache(path: ImageCache.diskCachePath(namespace: "default", directory: harness.cache))
        #expect(cache.store(try Fixtures.data("JPEG/gray.jpg"), forKey: "k\u{1B}[31m\u{202E}\u{9B}"))
        for words in [["list"], ["list", "--json"], ["verify"], ["stats"]] {
            let run = try await harness.run(["cache"] + words + ["--cache-dir", harness.cache])
            #expect(run.status == 0 && isPlain(run.output) && isPlain(run.errors))
        }
    }

    // MARK: Lists

    @Test func `An invalid line of a list is reported, and the others are loaded`() async throws {
        let body = try fixtureBytes("JPEG/gray.jpg")
        let server = try LoopbackServer { _ in .response(body: body) }
        let bad = "http://[::1/\u{202E}a.jpg"
        let list = "\(server.url("/a.jpg"))\n\(bad)\n\(server.url("/b.jpg"))\n"
        let words = ["prefetch", "-", "--cache-dir", harness.cache]
        let run = try await harness.run(words, input: list)
        #expect(run.status == 1 && run.output.contains("2 images in") && run.output.contains("1 failed"))
        #expect(run.errors.contains("invalid URL 'http://[::1/?a.jpg'"), "\(run.errors)")
        let objects = try CommandLineHarness.objects(await harness.run(words + ["--json"], input: list))
        #expect(objects.count == 3)
        let failed = try #require(objects.first { $0.error != nil })
        #expect(failed.source == bad && failed.error?.code == WebImageError.Code.invalidURL.rawValue)
    }

    // MARK: Orientation

    @Test(arguments: ["PNG/orientation-6.png", "PNG/orientation-after-pixels.png", "WebP/orientation-5.webp"])
    func `An image that many programs would show rotated is written upright`(name: String) async throws {
        #expect(try await harness.run("get", Fixtures.path(name), "-o", "copies/").status == 0)
        let copy = try bytes("copies/\(name.split(separator: "/")[1])")
        let image = try await Image.decode(copy)
        #expect(try image.format == ImageFormat(detecting: Fixtures.data(name)))
        #expect(image.metadata.sourceOrientation == .up)
        let expected = try Fixtures.pixels(name.prefix { $0 != "." } + ".pam")
        #expect(PixelDifference(image.bitmap, expected).maximum == 0)
    }

    @Test(arguments: ["PNG/orientation-1.png", "JPEG/orientation-6.jpg"])
    func `An image that every program shows upright is copied`(name: String) async throws {
        #expect(try await harness.run("get", Fixtures.path(name), "-o", "copies/").status == 0)
        #expect(try bytes("copies/\(name.split(separator: "/")[1])") == Fixtures.data(name))
    }
}
