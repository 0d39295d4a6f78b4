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

    /// A symbol of a graph.
    private func symbol(_ name: String, _ declaration: String, kind: String = "class", comment: String = "A loader.")
        -> String
    {
        let path = name.split(separator: ".").map { "\"\($0)\"" }.joined(separator: ", ")
        return """
            {"identifier": {"precise": "\(name)"}, "kind": {"identifier": "swift.\(kind)"}, "pathComponents": [\(path)],
              "docComment": {"lines": [{"text": "\(comment)"}]}, "declarationFragments": [{"spelling": "\(declaration)"}],
              "location": {"uri": "file:///Loader.swift", "position": {"line": 6}}}
            """
    }

    private func writeGraph(_ symbols: [String], _ relationships: [String]) throws {
        let relationships = relationships.joined(separator: ", ")
        try write(
            "{\"symbols\": [\(symbols.joined(separator: ", "))], \"relationships\": [\(relationships)]}",
            to: "graphs/Library.symbols.json"
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
        try writeGraph([symbol("Loader", "class Loader", comment: comment)], [])
        try write(page + "\n", to: "Page.md")
        try write(digest + "\n", to: "Digest.txt")
    }

    /// A protocol, and a type with members that implement its requirements, the last with a setter in addition, and an overload that
    /// implements none.
    private func writeConformance(_ relationships: [String]) throws {
        try writeGraph(
            [
                symbol("Loading", "protocol Loading : Sendable", kind: "protocol"),
                symbol("Loading.load(_:)", "func load(_ url: URL)", kind: "method"),
                symbol("Loading.limit", "var limit: Int { get }", kind: "property"),
                symbol("Loading.name", "var name: String { get }", kind: "property"),
                symbol("Loader", "class Loader"), symbol("Loader.load(_:)", "func load(_ url: URL)", kind: "method"),
                symbol("Loader.load(_:)#text", "func load(_ text: String)", kind: "method"),
                symbol("Loader.limit", "let limit: Int", kind: "property"),
                symbol("Loader.name", "var name: String", kind: "property"),
            ],
            [
                #"{"kind": "conformsTo", "source": "Loading", "target": "s8Sendable", "targetFallback": "Swift.Sendable"}"#
            ]
                + relationships
        )
        try write("- ``Loading``\n- ``Loader``\n", to: "Page.md")
    }

    private static let conformances =
        [
            #"{"kind": "conformsTo", "source": "Loader", "target": "s8Sendable", "targetFallback": "Swift.Sendable"}"#,
            #"{"kind": "conformsTo", "source": "Loader", "target": "s8Copyable", "targetFallback": "Swift.Copyable"}"#,
            #"{"kind": "conformsTo", "source": "Loader", "target": "Loading"}"#,
        ]
        + ["load(_:)", "limit", "name"].map { name in
            let origin = #"{"identifier": "Loading.\#(name)"}"#
            return #"{"kind": "memberOf", "source": "Loader.\#(name)", "target": "Loader", "sourceOrigin": \#(origin)}"#
        }

    @Test func `Declarations with a comment, a place and a line in the digest pass`() async throws {
        try writeLibrary()
        let run = try await check("symbols", "graphs", "Page.md", "Digest.txt")
        #expect(run.status == 0)
        #expect(run.output == "Documented: 1 public declarations, 1 in the digest.\n")
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

    @Test func `A public member that no guide mentions is an error, unless it is a case or implements a requirement`()
        async throws
    {
        try writeConformance(Self.conformances)
        #expect(try await check("symbols", "graphs", "Page.md", "Digest.txt", "--update").status == 0)
        try write("A `Loader` is `Loading`: `load` of a text, and `name`.\n", to: "Guide.md")
        let run = try await check("symbols", "graphs", "Page.md", "Digest.txt", "Guide.md")
        #expect(run.status == 1)
        #expect(
            run.errors == "/Loader.swift:7: 'Loading.limit' is public, and no guide or example mentions it\n"
        )
        try write("let limit = loader.limit\n", to: "Example.swift")
        #expect(try await check("symbols", "graphs", "Page.md", "Digest.txt", "Guide.md", "Example.swift").status == 0)
        try writeGraph([symbol("Kind.undefined", "case undefined", kind: "enum.case")], [])
        try write("", to: "Page.md")
        try write("Kind.undefined: case undefined\n", to: "Digest.txt")
        #expect(try await check("symbols", "graphs", "Page.md", "Digest.txt", "Guide.md").status == 0)
    }

    @Test func `A type's line names its protocols, and what implements a requirement and no more has no line`()
        async throws
    {
        try writeConformance(Self.conformances)
        #expect(try await check("symbols", "graphs", "Page.md", "Digest.txt", "--update").status == 0)
        let digest = try String(decoding: Data(contentsOf: URL(filePath: folder.path("Digest.txt"))), as: UTF8.self)
        #expect(
            digest == """
                Loader.load(_:)#text: func load(_ text: String)
                Loader.name: var name: String
                Loader: class Loader : Loading, Sendable
                Loading.limit: var limit: Int { get }
                Loading.load(_:): func load(_ url: URL)
                Loading.name: var name: String { get }
                Loading: protocol Loading : Sendable

                """
        )
    }

    @Test func `A conformance that goes changes the digest`() async throws {
        try writeConformance(Self.conformances)
        #expect(try await check("symbols", "graphs", "Page.md", "Digest.txt", "--update").status == 0)
        try writeConformance(Array(Self.conformances.prefix(1)))
        let run = try await check("symbols", "graphs", "Page.md", "Digest.txt")
        #expect(run.status == 1)
        let advice = "(Scripts/docs --update-digest)"
        #expect(
            run.errors.contains(
                "in the digest, and not public any more \(advice): Loader: class Loader : Loading, Sendable"
            )
        )
        #expect(run.errors.contains("public, and not in the digest \(advice): Loader: class Loader : Sendable"))
        #expect(run.errors.contains("public, and not in the digest \(advice): Loader.load(_:): func load(_ url: URL)"))
    }

    @Test func `A member of another library's type keeps its line, for no line names the type's protocols`()
        async throws
    {
        try writeGraph(
            [symbol("String.load()", "func load()", kind: "method")],
            [#"{"kind": "memberOf", "source": "String.load()", "target": "sSS", "sourceOrigin": {"identifier": "x"}}"#]
        )
        try write("", to: "Page.md")
        try write("String.load(): func load()\n", to: "Digest.txt")
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
