import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// The files that `Scripts/install` installs. Instead of building, a stub of `swift` names a folder with stubs of the
/// programs.
@Suite struct InstallScriptTests {
    private let directory = TemporaryDirectory()
    private var root: String { directory.path("root") }

    init() async throws {
        try await ProgramRun.writeScript(
            "case \"$*\" in '-frontend -version') echo 'Swift version 6.3.1' ;; *--show-bin-path) echo \"${0%/*}\" ;; esac",
            to: directory.path("swift")
        )
        let generate = "case \"$*\" in '--generate commands') printf '%s' \"$COMMANDS\" ;; *) echo \"$*\" ;; esac"
        for program in [
            "webimage", "webimage-gallery", "webimage-decoder", "webimage-decoder-pdf", "webimage-decoder-video",
            "webimage-server",
        ] {
            try await ProgramRun.writeScript(generate, to: directory.path(program))
        }
    }

    private func install(_ arguments: String...) async throws -> ProgramRun {
        let script = Fixtures.path("../../Scripts/install")
        return try await ProgramRun.run(
            "/bin/bash",
            [script] + arguments,
            environment: ["PATH": "\(directory.path):/usr/bin:/bin", "COMMANDS": "get\ncache\n"],
            directory: directory.path
        )
    }

    private func files() async throws -> [String] {
        let run = try await ProgramRun.run("/usr/bin/find", [root, "-type", "f", "-printf", "%m %P\\n"])
        return run.lines.sorted()
    }

    private static let command = [
        "644 usr/share/bash-completion/completions/webimage", "644 usr/share/fish/vendor_completions.d/webimage.fish",
        "644 usr/share/man/man1/webimage-cache.1", "644 usr/share/man/man1/webimage-get.1",
        "644 usr/share/man/man1/webimage.1", "644 usr/share/thumbnailers/webimage.thumbnailer",
        "644 usr/share/zsh/site-functions/_webimage", "755 usr/bin/webimage", "755 usr/libexec/webimage-decoder",
    ]
    private static let gallery = [
        "644 usr/share/applications/org.example.webimage.Gallery.desktop",
        "644 usr/share/bash-completion/completions/webimage-gallery",
        "644 usr/share/fish/vendor_completions.d/webimage-gallery.fish",
        "644 usr/share/icons/hicolor/scalable/apps/org.example.webimage.Gallery.svg",
        "644 usr/share/icons/hicolor/symbolic/apps/org.example.webimage.Gallery-symbolic.svg",
        "644 usr/share/man/man1/webimage-gallery.1",
        "644 usr/share/metainfo/org.example.webimage.Gallery.metainfo.xml",
        "644 usr/share/zsh/site-functions/_webimage-gallery", "755 usr/bin/webimage-gallery",
    ]
    private static let pdf = [
        "644 usr/share/thumbnailers/webimage-pdf.thumbnailer", "755 usr/libexec/webimage-decoder-pdf",
    ]
    private static let video = [
        "644 usr/share/thumbnailers/webimage-video.thumbnailer", "755 usr/libexec/webimage-decoder-video",
    ]
    private static let server = [
        "644 usr/share/bash-completion/completions/webimage-server",
        "644 usr/share/fish/vendor_completions.d/webimage-server.fish", "644 usr/share/man/man1/webimage-server.1",
        "644 usr/share/zsh/site-functions/_webimage-server", "755 usr/bin/webimage-server",
    ]

    @Test func `Programs, manual pages, completions and desktop files are installed, and removed again`() async throws {
        let run = try await install("--for-package", "--prefix", "/usr", "--destdir", "root")
        #expect(run.status == 0 && run.errors.isEmpty, "\(run.errors)")
        #expect(try await files() == (Self.command + Self.gallery + Self.pdf + Self.video + Self.server).sorted())
        let page = FileManager.default.contents(atPath: root + "/usr/share/man/man1/webimage-get.1")
        #expect(page == Data("--generate man get\n".utf8))
        try Data().write(to: URL(fileURLWithPath: root + "/usr/share/man/man1/other.1"))
        let removal = try await install("--uninstall", "--prefix=/usr", "--destdir=root")
        #expect(removal.status == 0 && removal.errors.isEmpty, "\(removal.errors)")
        #expect(try await files().map { $0.dropFirst(4) } == ["usr/share/man/man1/other.1"])
    }

    @Test(arguments: [("command", command), ("gallery", gallery), ("pdf", pdf), ("video", video), ("server", server)])
    func `A single program is installed on request`(program: String, installed: [String]) async throws {
        let run = try await install("--for-package", "--prefix=/usr", "--destdir", root, "--only", program)
        #expect(run.status == 0 && run.errors.isEmpty, "\(run.errors)")
        #expect(try await files() == installed.sorted())
    }

    @Test(
        "Invalid arguments are an error",
        arguments: [
            (["--bogus"], "unknown argument '--bogus'"), (["--prefix"], "--prefix needs a value"),
            (["--prefix", "usr"], "an absolute path"), (["--only=all"], "command, gallery, pdf, video or server"),
        ] as [([String], String)]
    )
    func nonsense(words: [String], message: String) async throws {
        let script = Fixtures.path("../../Scripts/install")
        let run = try await ProgramRun.run("/bin/bash", [script] + words, directory: directory.path)
        #expect(run.status == 1 && run.errors.contains(message), "\(run.errors)")
    }
}
