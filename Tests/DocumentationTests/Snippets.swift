/// A piece of code that is compiled with the tests.
struct Snippet {
    /// Unique.
    let name: String
    /// The modules that its file imports.
    let imports: Set<String>
    let code: String
}

/// The files of the folders `Snippets`: those with views are compiled with the tests of views, and those of tests are run. Code between `//
/// snippet: name` and `// end` is in one or more articles.
enum Snippets {
    static let folders = [
        "Tests/DocumentationTests/Snippets", "Tests/WebImageGTKTests/Snippets",
        "Tests/WebImageServerTests/Snippets", "Tests/WebImageTestSupportTests/Examples",
    ]

    static func files() throws -> [Document] {
        try folders.flatMap { try Project.files(below: $0, named: ".swift") }.map(Document.init)
    }

    static func all() throws -> [Snippet] { try files().flatMap(snippets) }

    private static func snippets(of file: Document) -> [Snippet] {
        let lines = file.text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let imports = Set(
            lines.filter { $0.hasPrefix("import ") }.map { String($0.dropFirst("import ".count)) }
        )
        var snippets: [Snippet] = []
        var open: (name: String, code: [String])?
        for line in lines {
            let trimmed = Code.trimmed(line)
            if trimmed.hasPrefix("// snippet: ") {
                open = (String(trimmed.dropFirst("// snippet: ".count)), [])
            } else if trimmed == "// end", let snippet = open {
                snippets.append(Snippet(name: snippet.name, imports: imports, code: Code.dedented(snippet.code)))
                open = nil
            } else {
                open?.code.append(line)
            }
        }
        return snippets
    }
}
