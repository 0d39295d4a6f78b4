import TestSupport
import Testing

/// The libraries that the programs need to be built, to start and to run.
@Suite struct LinkingTests {
    /// Libraries that the command loads when it needs them.
    private static let lazy = [
        "libpng", "libisal", "libjpeg", "libwebp.so", "libcurl", "libidn2", "liblcms", "libavif", "libheif", "libjxl",
        "librsvg", "libtiff", "libchafa", "libraw", "libssl", "libcrypto",
    ]

    @Test func `The command starts with few libraries: none for widgets, HTTP or a format`() async throws {
        let run = try await ProgramRun.run("/usr/bin/ldd", [ProgramRun.product("webimage")])
        #expect(run.status == 0 && run.output.contains("libc.so") && run.lines.count <= 45, "\(run.output)")
        let others = ["libgtk", "libgdk-", "libadwaita"] + Self.lazy
        #expect(others.filter(run.output.contains) == [])
    }

    @Test(arguments: [
        ("PNG/tiny-1x1.png", ["libpng"]), ("PNG/photo-rgb.png", ["libpng", "libisal"]), ("JPEG/gray.jpg", ["libjpeg"]),
        ("WebP/lossy.webp", ["libwebp.so"]),
    ])
    func `A library is loaded when an image needs it`(image: String, libraries: [String]) async throws {
        let run = try await ProgramRun.run(
            ProgramRun.product("webimage"),
            ["identify", Fixtures.path(image)],
            environment: ["LD_DEBUG": "files"]
        )
        let loaded = run.errors.split(separator: "\n").filter { $0.contains("calling init:") }
        #expect(run.status == 0)
        for library in Self.lazy {
            #expect(loaded.contains { $0.contains(library) } == libraries.contains(library), "\(library)")
        }
    }

    /// poppler and most builds of FFmpeg's libraries are GPL.
    @Test func `Only the programs for PDF and videos link poppler and FFmpeg`() async throws {
        for program in ["webimage", "webimage-decoder", "webimage-decoder-pdf", "webimage-decoder-video"] {
            let run = try await ProgramRun.run("/usr/bin/ldd", [ProgramRun.product(program)])
            #expect(run.status == 0, "\(program)")
            #expect(run.output.contains("poppler") == (program == "webimage-decoder-pdf"), "\(program)")
            #expect(run.output.contains("libavcodec") == (program == "webimage-decoder-video"), "\(program)")
        }
    }

    @Test func `Without GTK no target of the package uses it`() async throws {
        let scratch = TemporaryDirectory()
        // A separate scratch path: it waits for no running build.
        let run = try await ProgramRun.run(
            "/usr/bin/env",
            [
                "swift", "package", "--package-path", Fixtures.path("../.."), "--scratch-path", scratch.path,
                "dump-package",
            ],
            environment: ["WEBIMAGE_GTK": "0"]
        )
        #expect(run.status == 0 && run.output.contains(#""name" : "WebImage""#), "\(run.errors)")
        #expect(run.lines.filter { $0.lowercased().contains("gtk") } == [])
    }
}
