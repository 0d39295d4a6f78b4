import FoundationEssentials
import Testing

/// Suites that a sanitizer can check have the tag by which `Scripts/test` runs them under it.
@Suite struct SanitizerTests {
    /// Targets whose threads the thread sanitizer does not see.
    private static let withoutThreads: Set = [
        // They run the programs, or are only compiled.
        "CommandLineTests", "DocumentationTests",
        // GLib and GTK, the C libraries of formats: not built for the sanitizer, so it does not know how they
        // synchronize.
        "WebImageGTKTests", "WebImageFormatsTests",
    ]

    /// The text of all files of each suite, by their path up to `+` or the extension.
    private static func suites() throws -> [String: String] {
        var suites: [String: String] = [:]
        for folder in ["Tests", "Fuzz/Tests"] {
            for path in try Project.files(below: folder, named: ".swift") {
                let text = try Document(path).text
                guard !path.contains("SanitizerTests") else { continue }
                let end = path.lastIndex(of: "+") ?? path.lastIndex(of: ".") ?? path.endIndex
                suites[String(path[..<end]), default: ""] += text
            }
        }
        return suites.filter { $0.value.contains("@Test") }
    }

    private static func target(_ path: String) -> String {
        String(path.split(separator: "/").dropFirst().first ?? "")
    }

    private static func runs(_ text: String, under tag: String) -> Bool {
        text.split(separator: "\n").contains { $0.contains(".tags(") && $0.contains(".\(tag)") }
    }

    @Test func `No two files of tests have the same name, by which scripts choose tests`() throws {
        var paths: [Substring: String] = [:]
        for path in try Self.suites().keys {
            let name = path.split(separator: "/").last ?? ""
            #expect(paths[name] == nil, "\(path)")
            paths[name] = path
        }
        #expect(paths.count > 300)
    }

    @Test func `A suite that starts threads or tasks runs under the thread sanitizer`() throws {
        let starts =
            #/startThread|\bTask \{|\bTask\.detached|TaskGroup|\basync let\b|concurrentPerform|DispatchQueue|pthread_create/#
        var count = 0
        for (path, text) in try Self.suites()
        where text.contains(starts) && !Self.withoutThreads.contains(Self.target(path)) {
            count += 1
            #expect(Self.runs(text, under: "threadSanitizer"), "\(path) has no tag `threadSanitizer`")
        }
        #expect(count > 30)
    }

    @Test func `A suite that calls C, or decodes, runs under the address sanitizer unless another program does that`()
        throws
    {
        let imports = try Regex(
            #"(?m)^(@testable )?import C(Curl|Pixels|WebP|LCMS|XXHash|JPEGShims|PNGShims|Isolation|IDN2|Linux)\b"#
        )
        let decodes: Set = ["WebImageCodecsTests", "WebImageFormatsTests"]
        var count = 0
        for (path, text) in try Self.suites() {
            guard decodes.contains(Self.target(path)) || text.contains(imports),
                !text.contains(#/ProgramRun|HelperProcess|DecoderProgram/#)
            else { continue }
            count += 1
            #expect(Self.runs(text, under: "addressSanitizer"), "\(path) has no tag `addressSanitizer`")
        }
        #expect(count > 60)
    }
}
