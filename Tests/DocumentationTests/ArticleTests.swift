import FoundationEssentials
import TestSupport
import Testing

/// The code of the articles, the README and the documentation comments is compiled: each block is one of the snippets.
@Suite struct ArticleTests {
    /// Everything that has Swift in it.
    private static func documents() throws -> [Document] {
        let sources = try Project.files(below: "Sources", named: ".swift")
        let texts = try Project.files(below: "Documentation", named: ".md")
        let pages = try ["README.md", "CONTRIBUTING.md"] + texts + Project.modulePages() + Project.examples()
        return try Project.articles() + (pages + sources).map(Document.init)
    }

    private static func isManifest(_ block: Document.Block) -> Bool { block.code.hasPrefix("// Package.swift") }

    @Test func `Every block of Swift is compiled`() throws {
        let snippets = try Dictionary(grouping: Snippets.all(), by: \.code)
        var count = 0
        for document in try Self.documents() {
            for block in document.blocks where block.language == "swift" && !Self.isManifest(block) {
                let (imports, body) = Code.split(block.code)
                let places = snippets[body] ?? []
                #expect(!places.isEmpty, "\(document.path):\(block.line): no snippet has this code:\n\(body)")
                for snippet in places {
                    #expect(snippet.imports.isSuperset(of: imports), "\(document.path):\(block.line): imports")
                }
                count += 1
            }
        }
        #expect(count > 40)
    }

    @Test func `Every snippet is used, and has a unique name`() throws {
        let snippets = try Snippets.all()
        #expect(Set(snippets.map(\.name)).count == snippets.count)
        let blocks = try Set(Self.documents().flatMap(\.blocks).map { Code.split($0.code).body })
        for snippet in snippets {
            let isShown = blocks.contains(snippet.code)
            #expect(isShown, "nothing shows the snippet '\(snippet.name)'")
        }
    }

    @Test func `The calls in the tables of the comparisons are compiled`() throws {
        let code = try Snippets.files().map { Code.flattened($0.text) }.joined(separator: " ")
        for name in ["ComingFromSDWebImage", "ComingFromKingfisher", "ComingFromNuke"] {
            let rows = try Document("\(Project.catalogue)/\(name).md").rows.dropFirst()
            #expect(rows.count > 20)
            for row in rows {
                #expect(row.cells.count == 2, "\(name).md:\(row.line)")
                let calls = (row.cells.last ?? "").split(separator: "`", omittingEmptySubsequences: false)
                #expect(calls.count > 1, "\(name).md:\(row.line): no code")
                for (index, call) in calls.enumerated() where !index.isMultiple(of: 2) {
                    #expect(Self.occurs(String(call), in: code), "\(name).md:\(row.line): no snippet has '\(call)'")
                }
            }
        }
    }

    /// Returns whether a call is part of the code, with "…" as a wildcard.
    private static func occurs(_ call: String, in code: String) -> Bool {
        guard let gap = call.ranges(of: "…").first else { return code.contains(call) }
        let start = Code.trimmed(String(call[..<gap.lowerBound]))
        let end = Code.trimmed(String(call[gap.upperBound...]))
        return code.ranges(of: start).contains { code[$0.upperBound...].contains(end) }
    }

    @Test func `Code of other libraries is not marked as ours`() throws {
        for document in try Project.articles() {
            for block in document.blocks where block.language != "swift" {
                #expect(block.language.isEmpty || block.language == "sh", "\(document.path):\(block.line)")
            }
        }
    }

    @Test(arguments: ["README.md", "\(Project.catalogue)/GettingStarted.md"])
    func `The manifest is valid for the package manager`(path: String) throws {
        let block = try #require(Document(path).blocks.first(where: Self.isManifest))
        let directory = TemporaryDirectory()
        let manifest = """
            // swift-tools-version: 6.0
            import PackageDescription

            let package = Package(
                name: "App",
            \(block.code)
            )
            """
        try Data(manifest.utf8).write(to: URL(fileURLWithPath: directory.path("Package.swift")))
        let run = try ProgramRun(
            "/usr/bin/env",
            ["swift", "package", "--package-path", directory.path, "dump-package"]
        )
        #expect(run.status == 0, "\(run.errors)")
    }

    @Test func `Links between files of the project are valid`() throws {
        let texts = try Project.files(below: "Documentation", named: ".md")
        let paths =
            try ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "CODE_OF_CONDUCT.md"] + texts
            + Project.modulePages() + Project.examples()
        for document in try paths.map(Document.init) {
            for part in document.text.split(separator: "](").dropFirst() {
                let target = part.prefix { $0 != ")" && $0 != "#" }
                guard !target.isEmpty, !target.contains("://") else { continue }
                var folder = URL(fileURLWithPath: Project.path(document.path))
                folder.deleteLastPathComponent()
                let exists = FileManager.default.fileExists(atPath: folder.path + "/" + target)
                #expect(exists, "\(document.path): \(target)")
            }
        }
    }
}
