import FoundationEssentials
import TestSupport
import Testing

@Suite struct ShowTests {
    let harness = CommandLineHarness()
    private static let escape = "\u{1B}"
    private static let cursorShown = "\u{1B}[?25h"
    private static let cursorHidden = "\u{1B}[?25l"
    /// Removes all settings of the terminal that the tests run in.
    private static let plain = [
        "TERM": "xterm-256color", "COLORTERM": "", "TERM_PROGRAM": "", "LC_TERMINAL": "", "NO_COLOR": "",
        "CLICOLOR_FORCE": "", "LC_ALL": "C.UTF-8",
    ]

    private func show(_ words: String..., environment: [String: String] = [:]) async throws -> ProgramRun {
        try await harness.run(["show"] + words, environment: Self.plain.merging(environment) { $1 })
    }

    private func terminal(_ words: String..., environment: [String: String] = [:]) throws -> TerminalRun {
        let own = ["XDG_CACHE_HOME": harness.directory.path("xdg")]
        return try TerminalRun(
            ProgramRun.product("webimage"),
            ["show", "--quiet"] + words,
            environment: Self.plain.merging(own) { $1 }.merging(environment) { $1 }
        )
    }

    /// An image of 16 by 16 pixels, its left half of one colour and its right half of another, each blue, green, red.
    private func halves(_ left: [UInt8], _ right: [UInt8]) throws -> String {
        var bytes: [UInt8] = Array("BM".utf8) + [UInt8](repeating: 0, count: 52)
        (bytes[10], bytes[14], bytes[18], bytes[22], bytes[26], bytes[28]) = (54, 40, 16, 16, 1, 24)
        for _ in 0..<16 { bytes += (0..<16).flatMap { $0 < 8 ? left : right } }
        try Data(bytes).write(to: URL(fileURLWithPath: harness.directory.path("halves.bmp")))
        return harness.directory.path("halves.bmp")
    }

    // MARK: Into a pipe

    @Test func `A file gets cells without escape sequences, white as blocks and black as spaces`() async throws {
        let run = try await show("--size", "8x8", halves([255, 255, 255], [0, 0, 0]))
        #expect(run.status == 0 && run.errors.isEmpty)
        // The border between the two is a shade when pixels are enlarged.
        #expect(run.lines.count == 4)
        #expect(run.lines.allSatisfy { $0.count == 8 && $0.hasPrefix("████") && $0.hasSuffix("   ") })
    }

    @Test(arguments: [
        ("PNG/photo-rgb.png", "40x40", 40, 15), ("PNG/photo-rgb.png", "40x6", 16, 6),
        ("GIF/animated.gif", "20x20", 20, 8), ("JPEG/orientation-6.jpg", "90x20", 30, 20),
    ])
    func `An image fills the given cells and keeps its aspect ratio`(
        name: String,
        size: String,
        columns: Int,
        rows: Int
    ) async throws {
        let run = try await show("--size", size, Fixtures.path(name))
        #expect(run.status == 0 && run.lines.count == rows)
        #expect(run.lines.allSatisfy { $0.count == columns })
    }

    @Test func `An image smaller than the space uses a column per pixel`() async throws {
        let run = try await show(Fixtures.path("GIF/animated.gif"))
        #expect(run.lines.count == 15 && run.lines.allSatisfy { $0.count == 40 })
    }

    @Test func `Of an animation a file gets the first frame`() async throws {
        let path = Fixtures.path("GIF/animated.gif")
        _ = try await harness.run("get", path, "--first-frame", "-o", "first.png")
        let first = try await show("--size", "40x20", harness.directory.path("first.png"))
        #expect(try await show("--size", "40x20", path).output == first.output && !first.output.isEmpty)
        #expect(try await show("--size", "40x20", "--first-frame", path).output == first.output)
    }

    @Test func `Colours are written to a file when forced, never against NO_COLOR`() async throws {
        let path = try halves([0, 0, 255], [0, 255, 0])
        let forced = ["CLICOLOR_FORCE": "1", "COLORTERM": "truecolor"]
        let run = try await show("--size", "8x8", path, environment: forced)
        #expect(run.output.contains("8;2;255;0;0m") && run.output.contains("8;2;0;255;0m"))
        let graphics = try await show(path, environment: ["CLICOLOR_FORCE": "1", "TERM": "xterm-kitty"])
        #expect(!graphics.output.contains("\(Self.escape)_G"))
        for refusal in [["NO_COLOR": "1"], ["TERM": "dumb"]] {
            let plain = try await show("--size", "8x8", path, environment: forced.merging(refusal) { $1 })
            #expect(plain.status == 0 && plain.lines.count == 4 && !plain.output.contains(Self.escape))
        }
    }

    @Test func `Without a UTF-8 locale the cells are ASCII`() async throws {
        let run = try await show("--size", "30x20", Fixtures.path("PNG/photo-rgb.png"), environment: ["LC_ALL": "C"])
        #expect(run.status == 0 && !run.output.isEmpty && run.output.utf8.allSatisfy { $0 < 128 })
    }

    @Test func `Several images are shown in order, each below its name, and failures are reported`() async throws {
        let (first, second) = (Fixtures.path("PNG/photo-rgb.png"), Fixtures.path("GIF/animated.gif"))
        let run = try await show("--size", "12x4", first, "missing.png", second)
        #expect(run.status == 1 && run.errors.contains("webimage: missing.png: "))
        #expect(run.lines.count == 10, "two names, and two pictures of four lines")
        #expect(run.lines.first == first && run.lines.dropFirst(5).first == second)
    }

    // MARK: In a terminal

    @Test func `A terminal gets colours, and a still image does not hide the cursor`() throws {
        let run = try terminal("--size", "8x8", halves([0, 0, 255], [0, 255, 0]))
        #expect(run.finish() == 0)
        #expect(run.text.contains("\(Self.escape)[") && !run.text.contains(Self.cursorHidden) && run.isRestored)
    }

    @Test(arguments: [("mlterm", "\u{1B}P"), ("foot", "\u{1B}P"), ("xterm-kitty", "\u{1B}_G")])
    func `A terminal gets the graphics that it supports`(name: String, start: String) throws {
        let path = Fixtures.path("PNG/photo-rgba.png")
        let run = try terminal(path, environment: ["TERM": name])
        #expect(run.finish() == 0 && run.text.contains(start) && run.text.contains("\u{1B}\\"))
        let symbols = try terminal("--symbols", path, environment: ["TERM": name])
        #expect(symbols.finish() == 0 && !symbols.text.contains(start) && symbols.text.contains("\(Self.escape)["))
    }

    @Test func `An image in a terminal without colours has no escape sequence, also an animated one`() throws {
        let run = try terminal(Fixtures.path("GIF/animated.gif"), environment: ["NO_COLOR": "1"])
        #expect(run.finish() == 0 && !run.text.contains(Self.escape) && run.text.contains("\r\n"))
    }

    @Test(arguments: ["xterm-256color", "mlterm", "xterm-kitty"])
    func `An animation ends after its loops, with cursor and modes restored`(name: String) throws {
        let path = Fixtures.path("GIF/animated-imagemagick.gif")
        let run = try terminal("--loops", "2", path, environment: ["TERM": name])
        #expect(run.finish() == 0)
        // Four frames, twice.
        #expect(run.text.ranges(of: "\u{1B}[?2026h\u{1B}8").count == 8)
        #expect(run.text.hasSuffix(Self.cursorShown) && run.text.contains(Self.cursorHidden) && run.isRestored)
    }

    @Test func `A key ends an endless animation, Ctrl-Z too`() throws {
        for key in ["q", "\u{1A}"] {
            let run = try terminal("--loops", "0", Fixtures.path("GIF/animated-imagemagick.gif"))
            #expect(run.reads("\u{1B}[?2026l") && !run.echoes)
            run.type(key)
            #expect(run.finish() == 0 && run.text.hasSuffix(Self.cursorShown) && run.isRestored)
        }
    }

    @Test func `A signal ends the program by that signal, with cursor and modes restored`() throws {
        for (signal, status) in [(Int32(2), Int32(130)), (15, 143)] {
            let run = try terminal(Fixtures.path("GIF/animated-imagemagick.gif"))
            #expect(run.reads("\u{1B}[?2026l"))
            run.send(signal)
            #expect(run.finish() == status)
            #expect(run.text.hasSuffix(Self.cursorShown), "\(run.text.suffix(40).debugDescription)")
            #expect(run.isRestored)
        }
    }
}
