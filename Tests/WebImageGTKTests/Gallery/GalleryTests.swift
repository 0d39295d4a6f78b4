import FoundationEssentials
import TestSupport
import Testing
import WebImage

/// The program, on a separate display.
@Suite(.serialized, .needsDisplay) struct GalleryTests {
    let directory = TemporaryDirectory()

    private func pictures() throws -> String {
        let folder = directory.path("pictures")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for (name, data) in [("a.bmp", ViewBench.red), ("b.bmp", ViewBench.green), ("c.bmp", ViewBench.blue)] {
            try data.write(to: URL(filePath: folder + "/" + name))
        }
        return folder
    }

    private func run(_ arguments: [String]) async throws -> ProgramRun {
        try await run(
            ProgramRun.product("webimage-gallery"),
            ["--cache-dir", directory.path("cache")] + arguments
        )
    }

    private func run(_ program: String, _ arguments: [String]) async throws -> ProgramRun {
        try await withCheckedThrowingContinuation { continuation in
            startThread { continuation.resume(with: Result { try ProgramRun(program, arguments) }) }
        }
    }

    /// The pixels of a window.
    private struct Look {
        var width = 0
        var height = 0
        /// The number of pixels of each of the three colours.
        var counts = [0, 0, 0]
        /// The brightness at the left edge, half way down: 0...765.
        var brightness = 0
        /// The number of other pixels.
        var ink = 0
    }

    private func look(_ path: String) throws -> Look {
        let data = try Data(contentsOf: URL(filePath: path))
        let bitmap = try ImageCodersManager.shared.decode(data, options: ImageDecodeOptions()).bitmap
        var look = Look(width: bitmap.width, height: bitmap.height)
        let paper = bitmap.premultipliedRGBA(x: 8, y: bitmap.height / 2)
        look.brightness = paper.prefix(3).reduce(0) { $0 + Int($1) }
        for y in 0..<bitmap.height {
            for x in 0..<bitmap.width {
                let color = bitmap.premultipliedRGBA(x: x, y: y)
                if color != paper { look.ink += 1 }
                switch color.prefix(3) {
                case [255, 0, 0]: look.counts[0] += 1
                case [0, 255, 0]: look.counts[1] += 1
                case [0, 0, 255]: look.counts[2] += 1
                default: break
                }
            }
        }
        return look
    }

    @Test func `A screenshot of a folder has all its images, without warnings`() async throws {
        let file = directory.path("grid.png")
        let run = try await run(["--screenshot", file, "--size", "640x400", try pictures()])
        #expect(run.status == 0 && run.output.isEmpty)
        // GDK 4.24 warns of frames that it counts itself.
        let errors = run.errors.split(separator: "\n").filter { !$0.contains("gdk_frame_timings_submitted()") }
        let complaints = errors.filter { $0.contains("webimage-gallery:") || $0.contains("CRITICAL") }
        #expect(complaints.isEmpty)
        let look = try look(file)
        #expect(look.width == 640 && look.height == 400)
        #expect(look.counts.allSatisfy { $0 >= 40 * 30 }, "\(look.counts)")
    }

    @Test(arguments: ["--light", "--dark"])
    func `A single image is shown by itself, in a window that is light or dark`(option: String) async throws {
        let file = directory.path("viewer.png")
        let run = try await run(["--screenshot", file, "--viewer", "2", try pictures(), option])
        #expect(run.status == 0)
        #expect(!run.errors.contains("CRITICAL"), "\(run.errors)")
        let look = try look(file)
        #expect(look.counts == [0, 40 * 30, 0])
        #expect(option == "--dark" ? look.brightness < 300 : look.brightness > 600)
    }

    @Test func `A missing image is reported, and images are loaded from a server`() async throws {
        let server = try LoopbackServer { _ in .response(body: [UInt8](ViewBench.blue)) }
        let file = directory.path("viewer.png")
        let run = try await run(["--screenshot", file, "--viewer", "2", server.url("/a.bmp").absoluteString])
        #expect(run.status == 1 && run.errors.contains("--viewer 2: there is 1 image"))
        // The list is shown.
        #expect(try look(file).counts[2] >= 40 * 30)
    }

    @Test func `Every format is decoded in workers, and core formats in-process if requested`() async throws {
        let folder = try pictures()
        // A worker program that decodes nothing.
        let gallery = #"export WEBIMAGE_DECODER=/bin/true; exec "$@""#
        let program = [
            "-c", gallery, "-", ProgramRun.product("webimage-gallery"), "--cache-dir", directory.path("cache"),
        ]
        let arguments = ["--screenshot", directory.path("grid.png"), folder]
        let isolated = try await run("/bin/bash", program + arguments)
        #expect(isolated.status == 1 && isolated.errors.contains("/bin/true"), "\(isolated.errors)")
        let inProcess = try await run("/bin/bash", program + ["--in-process"] + arguments)
        #expect(inProcess.status == 0, "\(inProcess.errors)")
    }

    /// Clicks once on the first image, and ends the program when that is opened. A click before the window is laid out
    /// is lost, so there may be others; two clicks are never so close that they count as a double click.
    private static let click = #"""
        "$0" --cache-dir "$1" "$2" &
        program=$!
        window=$(timeout 60 xdotool search --sync --onlyvisible --name '^3 images$')
        for _ in 1 2 3 4 5 6 7 8 9 10; do
            xdotool mousemove --window "$window" 120 100 click 1
            if timeout 3 xdotool search --sync --onlyvisible --name '^a\.bmp$' >/dev/null; then seen=yes && break; fi
        done
        kill "$program"
        [ "$seen" = yes ]
        """#

    @Test func `A click on an image opens it`() async throws {
        let arguments = [
            "-c", Self.click, ProgramRun.product("webimage-gallery"), directory.path("cache"), try pictures(),
        ]
        let run = try await run("/bin/bash", arguments)
        #expect(run.status == 0, "\(run.errors)")
    }

    @Test func `The page about the caches is written`() async throws {
        let file = directory.path("cache.png")
        let run = try await run(["--screenshot", file, "--cache", try pictures()])
        #expect(run.status == 0, "\(run.errors)")
        let look = try look(file)
        // Words and buttons.
        #expect(look.counts == [0, 0, 0] && look.ink > 5_000, "\(look.ink)")
    }

    @Test func `A list contains relative images, and unavailable ones are reported`() async throws {
        _ = try pictures()
        let list = directory.path("list.txt")
        try Data("# pictures\n\n  pictures/a.bmp \npictures/none.bmp\nhttp://127.0.0.1:1/x.png\n".utf8)
            .write(to: URL(filePath: list))
        let file = directory.path("list.png")
        let run = try await run(["--screenshot", file, list])
        #expect(run.status == 1)
        #expect(run.errors.contains("none.bmp: no such file"))
        #expect(run.errors.components(separatedBy: "http://127.0.0.1:1/x.png").count == 2, "said once: \(run.errors)")
        #expect(try look(file).counts[0] >= 40 * 30)
    }

    @Test(arguments: [
        ["--size", "3"], ["--size", "100000x5"], ["--viewer", "0"], ["--viewer"], ["--screenshot"], ["--what"],
        ["--first-screen", "--viewer", "1"], ["--cache", "--first-screen"],
    ])
    func `Invalid arguments exit with status 64`(arguments: [String]) async throws {
        let run = try await run(arguments)
        #expect(run.status == 64 && run.errors.hasPrefix("webimage-gallery: "))
    }

    @Test func `The program ends with its first screen, also if that is empty`() async throws {
        let full = try await run(["--first-screen", try pictures()])
        #expect(full.status == 0 && full.lines == ["first-screen\t3\timages"])
        let folder = directory.path("empty")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let empty = try await run(["--first-screen", folder])
        #expect(empty.status == 1 && empty.output.isEmpty && empty.errors.contains("there are no images"))
        let nothing = try await run(["--first-screen"])
        #expect(nothing.status == 1 && nothing.errors.contains("there are no images"))
    }

    @Test func `Help is printed, and an unwritable path is reported`() async throws {
        let help = try await run(["--help"])
        #expect(help.status == 0 && help.output.contains("--screenshot FILE"))
        let run = try await run(["--screenshot", directory.path("no/such/place.png"), try pictures()])
        #expect(run.status == 1 && run.errors.contains("place.png"))
    }

    @Test func `Every option of its help is in its manual page and all completions`() async throws {
        let options = try await run(["--help"]).lines.filter { $0.hasPrefix("      --") }
            .compactMap { $0.split(separator: " ").first }
        #expect(options.count > 8)
        for kind in ["man", "bash", "zsh", "fish"] {
            let run = try await run(["--generate", kind])
            #expect(run.status == 0)
            let text = run.output.replacing("\\-", with: "-").replacing("-l ", with: "--")
            for option in options { #expect(text.contains(option), "\(option) in \(kind)") }
        }
        #expect(try await run(["--version"]).output.hasPrefix("webimage-gallery "))
    }

    @Test func `Without a display there is an error message`() async throws {
        let program = ProgramRun.product("webimage-gallery")
        let run = try ProgramRun(program, [], environment: ["DISPLAY": "", "WAYLAND_DISPLAY": ""])
        #expect(run.status == 69 && run.errors.contains("no display"))
    }
}
