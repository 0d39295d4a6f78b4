import FoundationEssentials
import TestSupport
import Testing

/// The errors that `Scripts/check-documentation.py` finds.
@Suite struct DocumentationCheckTests {
    private let folder = TemporaryDirectory()

    private func write(_ text: String, to name: String) throws {
        let url = URL(filePath: folder.path(name))
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
    }

    private func check(_ arguments: String...) async throws -> ProgramRun {
        try await ProgramRun.run(
            "/usr/bin/python3",
            [Fixtures.path("../../Scripts/check-documentation.py")] + arguments,
            directory: folder.path
        )
    }

    /// A symbol graph with one type, a page that names it, and the digest that lists it.
    private func writeLibrary(
        comment: String = "A loader.",
        page: String = "- ``Loader``",
        digest: String = "Loader: class Loader"
    )
        throws
    {
        try write(
            """
            {"symbols": [{"pathComponents": ["Loader"], "docComment": {"lines": [{"text": "\(comment)"}]},
              "declarationFragments": [{"spelling": "class"}, {"spelling": " "}, {"spelling": "Loader"}],
              "location": {"uri": "file:///Loader.swift", "position": {"line": 6}}}]}
            """,
            to: "graphs/Library.symbols.json"
        )
        try write(page + "\n", to: "Page.md")
        try write(digest + "\n", to: "Digest.txt")
    }

    @Test func `Declarations with a comment, a place and a line in the digest pass`() async throws {
        try writeLibrary()
        let run = try await check("symbols", "graphs", "Page.md", "Digest.txt")
        #expect(run.status == 0)
        #expect(run.output == "Documented: 1 public declarations.\n")
    }

    @Test func `A declaration without a comment is an error with its place`() async throws {
        try writeLibrary(comment: " ")
        let run = try await check("symbols", "graphs", "Page.md", "Digest.txt")
        #expect(run.status == 1)
        #expect(run.errors == "/Loader.swift:7: 'Loader' is public and has no comment\n")
    }

    @Test func `A type that the page does not name is an error`() async throws {
        try writeLibrary(page: "- ``Other``")
        let run = try await check("symbols", "graphs", "Page.md", "Digest.txt")
        #expect(run.status == 1)
        #expect(run.errors == "/Loader.swift:7: 'Loader' has no place among the topics of Page.md\n")
    }

    @Test func `A change of the public interface is an error until the digest is updated`() async throws {
        try writeLibrary(digest: "Loader: struct Loader")
        let run = try await check("symbols", "graphs", "Page.md", "Digest.txt")
        #expect(run.status == 1)
        #expect(
            run.errors.contains("public, and not in the digest (Scripts/docs --update-digest): Loader: class Loader")
        )
        #expect(
            run.errors.contains(
                "in the digest, and not public any more (Scripts/docs --update-digest): Loader: struct Loader"
            )
        )
        #expect(try await check("symbols", "graphs", "Page.md", "Digest.txt", "--update").status == 0)
        #expect(try await check("symbols", "graphs", "Page.md", "Digest.txt").status == 0)
    }

    @Test(
        "More than 60 comments with a habit that makes readers stumble are an error",
        arguments: [
            "/// What is loaded.", "// Who waits is called.", "/// - url: Whether it is one.", "// It is no image.",
            "// A queue of its own.",
            "// It is let go of.", "// It connects to hosts alone.", "// It is decoded anew.",
        ]
    )
    func habits(comment: String) async throws {
        try write(String(repeating: comment + "\n", count: 60), to: "Sources/Loader.swift")
        #expect(try await check("prose", "Sources").status == 0)
        try write(String(repeating: comment + "\n", count: 61), to: "Sources/Loader.swift")
        let run = try await check("prose", "Sources")
        #expect(run.status == 1)
        #expect(run.errors.contains("Sources/Loader.swift:61: "))
    }
}
