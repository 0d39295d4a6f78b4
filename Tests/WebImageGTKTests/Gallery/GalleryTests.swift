import FoundationEssentials
import TestSupport
import Testing
import WebImage

/// The program, on a display of its own.
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

    /// How many pixels of the window have each of the three colours.
    private func colors(_ path: String) throws -> (width: Int, counts: [Int]) {
        let data = try Data(contentsOf: URL(filePath: path))
        let bitmap = try ImageCodersManager.shared.decode(data, options: ImageDecodeOptions()).bitmap
        var counts = [0, 0, 0]
        for y in 0..<bitmap.height {
            for x in 0..<bitmap.width {
                switch bitmap.premultipliedRGBA(x: x, y: y).prefix(3) {
                case [255, 0, 0]: counts[0] += 1
                case [0, 255, 0]: counts[1] += 1
                case [0, 0, 255]: counts[2] += 1
                default: break
                }
            }
        }
        return (bitmap.width, counts)
    }

    @Test func `A screenshot of a folder has all its pictures, and nothing is complained of`() async throws {
        let file = directory.path("grid.png")
        let run = try await run(["--screenshot", file, "--size", "640x400", try pictures()])
        #expect(run.status == 0 && run.output.isEmpty)
        #expect(!run.errors.contains("webimage-gallery:") && !run.errors.contains("CRITICAL"), "\(run.errors)")
        let (width, counts) = try colors(file)
        #expect(width == 640)
        #expect(counts.allSatisfy { $0 >= 40 * 30 }, "\(counts)")
    }

    @Test(arguments: [[], ["--dark"]])
    func `One picture is shown alone, with its facts`(options: [String]) async throws {
        let file = directory.path("viewer.png")
        let run = try await run(["--screenshot", file, "--viewer", "2", try pictures()] + options)
        #expect(run.status == 0)
        #expect(!run.errors.contains("CRITICAL"), "\(run.errors)")
        let (_, counts) = try colors(file)
        #expect(counts == [0, 40 * 30, 0])
    }

    /// Clicks once on the first picture, and ends the program when that is seen alone. A click that comes before the window is laid out is
    /// lost, so there may be others; two that together would count as a double click are never that near.
    private static let click = #"""
        "$0" --cache-dir "$1" "$2" &
        program=$!
        window=$(timeout 60 xdotool search --sync --onlyvisible --name '^3 pictures$')
        for _ in 1 2 3 4 5 6 7 8 9 10; do
            xdotool mousemove --window "$window" 120 100 click 1
            if timeout 3 xdotool search --sync --onlyvisible --name '^a\.bmp$' >/dev/null; then seen=yes && break; fi
        done
        kill "$program"
        [ "$seen" = yes ]
        """#

    @Test func `A click on a picture shows it alone`() async throws {
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
        #expect(try colors(file).counts == [0, 0, 0])
    }

    @Test func `A list names pictures beside it, and what cannot be had is said`() async throws {
        _ = try pictures()
        let list = directory.path("list.txt")
        try Data("# pictures\n\n  pictures/a.bmp \npictures/none.bmp\nhttp://127.0.0.1:1/x.png\n".utf8)
            .write(to: URL(filePath: list))
        let file = directory.path("list.png")
        let run = try await run(["--screenshot", file, list])
        #expect(run.status == 1)
        #expect(run.errors.contains("none.bmp: there is no such file"))
        #expect(run.errors.components(separatedBy: "http://127.0.0.1:1/x.png").count == 2, "said once: \(run.errors)")
        #expect(try colors(file).counts[0] >= 40 * 30)
    }

    @Test(arguments: [
        ["--size", "3"], ["--size", "100000x5"], ["--viewer", "0"], ["--viewer"], ["--screenshot"], ["--what"],
    ])
    func `Arguments that make no sense end with 64`(arguments: [String]) async throws {
        let run = try await run(arguments)
        #expect(run.status == 64 && run.errors.hasPrefix("webimage-gallery: "))
    }

    @Test func `Help is printed, and a place that cannot be written is said`() async throws {
        let help = try await run(["--help"])
        #expect(help.status == 0 && help.output.contains("--screenshot FILE"))
        let run = try await run(["--screenshot", directory.path("no/such/place.png"), try pictures()])
        #expect(run.status == 1 && run.errors.contains("place.png"))
    }

    @Test func `Without a display it says so`() async throws {
        let program = ProgramRun.product("webimage-gallery")
        let run = try ProgramRun(program, [], environment: ["DISPLAY": "", "WAYLAND_DISPLAY": ""])
        #expect(run.status == 69 && run.errors.contains("no display"))
    }
}
