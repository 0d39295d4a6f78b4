import FoundationEssentials
import TestSupport
import Testing

/// Manual pages and completions, which `Scripts/install` installs, match `--help`.
@Suite struct InstalledFileTests {
    private let harness = CommandLineHarness()
    static let commands = ["get", "identify", "show", "tiles", "prefetch", "cache"]

    private func generate(_ words: String...) async throws -> String {
        let run = try await harness.run(["--generate"] + words)
        #expect(run.status == 0 && run.errors.isEmpty, "\(run.errors)")
        return run.output
    }

    /// The names of options at the start of the lines of a help text.
    private func options(_ command: String) async throws -> [String] {
        var options: [String] = []
        for line in try await harness.run([command, "--help"]).lines
        where line.hasPrefix("  -") || line.hasPrefix("      -") {
            for word in line.split(separator: " ").prefix(2) where word.hasPrefix("-") {
                options.append(String(word.last == "," ? word.dropLast() : word))
            }
        }
        return options
    }

    @Test(arguments: commands)
    func `Every option in a command's help is in its manual page and all completions`(command: String)
        async throws
    {
        let options = try await options(command)
        #expect(options.contains("--cache-dir") && options.contains("-h"))
        let page = try await generate("man", command).replacing("\\-", with: "-")
        let lines = try await generate("bash").split(separator: "\n").drop { $0 != "        \(command))" }
        let bash = try #require(lines.first { $0.contains("options='") })
        let zsh = try await generate("zsh")
        let fish = try await generate("fish")
        for option in options {
            #expect(page.contains("\\fB\(option)\\fR"), "\(option) in the manual page")
            #expect(bash.contains("\(option) ") || bash.contains("\(option)'"), "\(option) in bash's")
            #expect(zsh.contains(")\(option)") || zsh.contains("*\(option)"), "\(option) in zsh's")
            let name = option.hasPrefix("--") ? "-l \(option.dropFirst(2)) " : "-s \(option.dropFirst()) "
            let condition = "-n '__fish_seen_subcommand_from \(command)'"
            #expect(
                fish.split(separator: "\n").contains { $0.contains(condition) && $0.contains(name) },
                "\(option) in fish's"
            )
        }
    }

    @Test func `Every command is in the manual page, and has its own page`() async throws {
        #expect(try await generate("commands") == Self.commands.map { $0 + "\n" }.joined())
        let page = try await generate("man")
        for command in Self.commands { #expect(page.contains("webimage\\-\(command)\\fR(1)")) }
        for words in [["man"]] + Self.commands.map({ ["man", $0] }) {
            let page = try await harness.run(["--generate"] + words).output
            for section in ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS", "EXAMPLES", "SEE ALSO"] {
                #expect(page.contains("\n.SH \(section)\n"), "\(words) \(section)")
            }
            #expect(page.utf8.allSatisfy { $0 < 0x80 }, "a manual page is readable in every locale")
            // Otherwise text would be taken for a request.
            let requests = [".TH", ".SH", ".TP", ".PP", ".B", ".BR", ".EX", ".EE", ".RS", ".RE", ".\\\""]
            for line in page.split(separator: "\n") where line.hasPrefix(".") || line.hasPrefix("'") {
                #expect(requests.contains { line == $0 || line.hasPrefix($0 + " ") }, "\(line)")
            }
        }
    }

    @Test(arguments: [[], ["pdf"], ["man", "bogus"], ["bash", "extra"]])
    func `An unknown generator is an error, with status 64`(words: [String]) async throws {
        let run = try await harness.run(["--generate"] + words)
        #expect(run.status == 64 && run.output.isEmpty)
        #expect(run.errors.contains("--generate takes"))
    }

    @Test(
        "bash completes",
        arguments: [
            (["i"], "identify"), (["--v"], "--version"), (["help", "pre"], "prefetch"),
            (["get", "--max-f"], "--max-file-size"), (["get", "--format", "we"], "webp"),
            (["get", "--format", "=", "j"], "jpeg jxl"), (["get", "-f", "he"], "heic"),
            (["get", "--scaling", "="], "high fast"), (["cache", "ve"], "verify"),
            // A value that only the user knows, and one that is a file.
            (["get", "--quality", ""], ""), (["get", ""], ""), (["cache", "path", "ve"], ""),
        ] as [([String], String)]
    )
    func bash(words: [String], completions: String) async throws {
        let script = """
            compopt() { :; }
            source /dev/stdin
            COMP_WORDS=(webimage "$@") COMP_CWORD=$#
            _webimage
            echo "${COMPREPLY[*]}"
            """
        let run = try await ProgramRun.run(
            "/bin/bash",
            ["--norc", "-c", script, "bash"] + words,
            input: try await generate("bash")
        )
        #expect(run.status == 0 && run.errors.isEmpty, "\(run.errors)")
        #expect(run.output == completions + "\n")
    }
}

/// The files of packages match the program and the scripts.
@Suite struct PackagingTests {
    private static func text(_ path: String) throws -> String {
        String(
            decoding: try #require(FileManager.default.contents(atPath: Fixtures.path("../../" + path))),
            as: UTF8.self
        )
    }

    @Test func `All files name the same version`() async throws {
        let version = try await CommandLineHarness().run("--version").output.dropFirst("webimage ".count).dropLast()
        #expect(try Self.text("debian/changelog").hasPrefix("webimage (\(version)-"))
        let page = try await CommandLineHarness().run("--generate", "man").output
        let date = try #require(page.split(separator: "\n").first { $0.hasPrefix(".TH") }?.split(separator: " ")[3])
        let releases = try Self.text("Packaging/data/org.example.webimage.Gallery.metainfo.xml")
        let first = try #require(releases.split(separator: "\n").first { $0.contains("<release ") })
        #expect(first.contains("version=\"\(version)\" date=\"\(date)\""))
    }

    @Test func `The Debian package is built with every library of Scripts/setup`() throws {
        let control = try Self.text("debian/control").split(separator: "\n")
        for line in try Self.text("Scripts/packages.txt").split(separator: "\n") where line.hasPrefix("build ") {
            let package = line.split(separator: " ")[1].filter { $0 != "?" }
            // Plugins are loaded when a program runs.
            guard package.hasSuffix("-dev") || package == "g++" else { continue }
            #expect(control.contains(" \(package),"), "\(package)")
        }
    }

    @Test func `Every image type that the gallery opens has a thumbnailer, and all formats are there`() throws {
        func types(_ path: String) throws -> [Substring] {
            let line = try #require(try Self.text(path).split(separator: "\n").first { $0.hasPrefix("MimeType=") })
            return line.dropFirst("MimeType=".count).split(separator: ";")
        }
        let thumbnails = try types("Packaging/data/webimage.thumbnailer")
        for type in try types("Packaging/data/org.example.webimage.Gallery.desktop") {
            #expect(thumbnails.contains(type), "\(type)")
        }
        for name in [
            "jpeg", "png", "gif", "webp", "bmp", "x-icon", "tiff", "svg+xml", "avif", "heic", "heif", "jxl",
            "x-adobe-dng",
        ] {
            #expect(thumbnails.contains("image/\(name)"), "\(name)")
        }
    }

    @Test func `PDF has a separate thumbnailer that runs the same command`() throws {
        func command(_ path: String) throws -> [Substring] {
            try Self.text(path).split(separator: "\n").filter { $0.hasPrefix("Exec=") || $0.hasPrefix("TryExec=") }
        }
        let path = "Packaging/data/webimage-pdf.thumbnailer"
        let commands = try command(path)
        #expect(try commands.count == 2 && commands == command("Packaging/data/webimage.thumbnailer"))
        #expect(try Self.text(path).contains("\nMimeType=application/pdf;\n"))
        #expect(try !Self.text("Packaging/data/webimage.thumbnailer").contains("application/pdf"))
    }

    @Test func `Videos have a separate thumbnailer that runs the same command`() throws {
        let lines = try Self.text("Packaging/data/webimage-video.thumbnailer").split(separator: "\n")
        let commands = lines.filter { $0.hasPrefix("Exec=") || $0.hasPrefix("TryExec=") }
        let others = try Self.text("Packaging/data/webimage.thumbnailer").split(separator: "\n")
        #expect(commands.count == 2 && commands.allSatisfy { others.contains($0) })
        for type in ["mp4", "quicktime", "webm", "matroska"] {
            #expect(lines.contains { $0.hasPrefix("MimeType=") && $0.contains("video/\(type);") }, "\(type)")
        }
        #expect(!others.contains { $0.contains("video/") })
    }
}
