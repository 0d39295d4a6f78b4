import TestSupport
import Testing

@Suite struct UsageTests {
    let harness = CommandLineHarness()

    @Test(
        "Invalid arguments exit with status 64",
        arguments: [
            ([], "Usage"), (["bogus"], "unknown command 'bogus'"), (["get"], "no source"),
            (["get", "--bogus", "x"], "--bogus"),
            (["get", "-x", "a"], "unknown option -x"), (["get", "a", "--thumbnail"], "needs a value"),
            (["get", "a", "--thumbnail", "0x5"], "takes a size"),
            (["get", "a", "--thumbnail", "3x4x5"], "takes a size"),
            (["get", "a", "--resize", "3x4:odd"], "--resize takes"),
            (["get", "a", "--quality", "101"], "from 0 to 100"),
            (["get", "a", "--quality", "nan"], "from 0 to 100"),
            (["get", "a", "--round", "5:xx"], "--round takes R"),
            (["get", "a", "--round", "5:tl:2"], "--round takes R"),
            (["get", "a", "--round", "5:all:2:red"], "for the border"),
            (["get", "a", "--rotate", "x:cut"], "an angle"),
            (["get", "a", "--format", "ico"], "jpeg, png, apng, webp, gif, bmp, tiff"),
            (["get", "a", "--background", "red"], "colour"), (["get", "a", "--json=yes"], "takes no value"),
            (["get", "a", "b", "-o", "-"], "one source"), (["get", "a", "-o", "-", "--json"], "standard output"),
            (["get", "a", "-o", "x.svg"], "jpeg, png, apng, webp, gif, bmp, tiff"), (["get", ""], "empty"),
            (["get", "a", "--max-file-size", "lots"], "number of bytes"),
            (["get", "a", "--max-file-size", "0"], "200K"),
            (["get", "a", "--loops", "-1"], "from 0 to 65535"),
            (["get", "a", "--lossless", "-f", "gif"], "GIF cannot"),
            (["get", "a", "--refresh", "--cache-only"], "cannot be combined"),
            (["get", "a", "-j", "0"], "from 1 to 256"),
            (["get", "a", "-H", "novalue"], "Name: value"), (["get", "a", "--timeout", "0"], "--timeout"),
            (["get", "a", "--scaling", "bad"], "high or fast"),
            (["prefetch", "--no-cache"], "needs a cache"),
            (["prefetch", "/does/not/exist"], "/does/not/exist"), (["prefetch", "--repeat", "0"], "--repeat"),
            (["cache"], "no action given"), (["cache", "bogus"], "unknown action 'bogus'"),
            (["cache", "remove"], "no source or key given"),
            (["cache", "stats", "x"], "takes no sources"),
            (["cache", "trim", "--max-size", "lots"], "number of bytes"),
            (["identify"], "no source"), (["show"], "no source"), (["show", ""], "empty"),
            (["show", "a", "--size", "0x5"], "--size takes"), (["show", "a", "--size", "80"], "--size takes"),
            (["show", "a", "--size", "501x5"], "up to 500"), (["show", "a", "--loops", "x"], "from 0 to 65535"),
            (["show", "a", "--json"], "unknown option --json"), (["show", "a", "--symbols=1"], "takes no value"),
        ] as [([String], String)]
    )
    func nonsense(words: [String], message: String) async throws {
        let run = try await harness.run(words)
        #expect(run.status == 64)
        #expect(run.errors.contains(message))
        #expect(run.output.isEmpty)
    }

    @Test(arguments: ["get", "identify", "show", "tiles", "prefetch", "cache"])
    func `Every command has a help text`(command: String) async throws {
        for words in [[command, "--help"], [command, "-h"], ["help", command]] {
            let run = try await harness.run(words)
            #expect(run.status == 0)
            #expect(run.output.contains("Usage: webimage \(command)"))
            #expect(run.output.split(separator: "\n").allSatisfy { $0.count <= 120 })
        }
    }

    @Test func `The program prints its commands and its version`() async throws {
        #expect(try await harness.run("--help").output.contains("prefetch"))
        #expect(try await harness.run("--version").output.hasPrefix("webimage "))
    }

    @Test func `Words after two dashes are sources, even if they look like options`() async throws {
        let run = try await harness.run("get", "--", "--thumbnail")
        #expect(run.status == 1)
        #expect(run.errors.contains("--thumbnail: "))
    }
}
