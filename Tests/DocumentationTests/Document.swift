import FoundationEssentials
import TestSupport

/// A text with code in it: an article, or a source file with documentation comments.
struct Document {
    /// A fenced block.
    struct Block {
        let line: Int
        let language: String
        let code: String
    }

    /// A row of a table, without the delimiter rows.
    struct Row {
        let line: Int
        let cells: [String]
    }

    /// Relative to the project.
    let path: String
    let text: String

    init(_ path: String) throws {
        self.path = path
        text = try String(decoding: Data(contentsOf: URL(fileURLWithPath: Project.path(path))), as: UTF8.self)
    }

    private var lines: [Substring] { text.split(separator: "\n", omittingEmptySubsequences: false) }

    /// The fenced blocks, in order; in a source file those of the documentation comments.
    var blocks: [Block] {
        var blocks: [Block] = []
        var open: (line: Int, language: String, code: [String])?
        for (number, line) in lines.enumerated() {
            guard let content = content(of: line) else { continue }
            if content.drop(while: { $0 == " " }).hasPrefix("```") {
                if let block = open {
                    blocks.append(
                        Block(line: block.line, language: block.language, code: Code.dedented(block.code))
                    )
                    open = nil
                } else {
                    open = (number + 1, String(content.drop { $0 == " " || $0 == "`" }), [])
                }
            } else {
                open?.code.append(content)
            }
        }
        return blocks
    }

    /// A line as Markdown; nil for other lines, which are most of a source file.
    private func content(of line: Substring) -> String? {
        guard path.hasSuffix(".swift") else { return String(line) }
        let trimmed = line.drop { $0 == " " }
        guard trimmed.hasPrefix("///") else { return nil }
        return String(trimmed.dropFirst(trimmed.hasPrefix("/// ") ? 4 : 3))
    }

    /// The rows of all tables, their heads included.
    var rows: [Row] {
        lines.enumerated().compactMap { number, line in
            guard line.hasPrefix("|"), !line.hasPrefix("|--") else { return nil }
            let cells = line.replacing("\\|", with: "\u{0}").split(separator: "|", omittingEmptySubsequences: false)
            return Row(
                line: number + 1,
                cells: cells.dropFirst().dropLast().map {
                    Code.trimmed(String($0)).replacing("\u{0}", with: "|")
                }
            )
        }
    }
}

/// The project's own files.
enum Project {
    /// The absolute path of a file or folder of the project.
    static func path(_ relative: String) -> String {
        var directory = URL(fileURLWithPath: #filePath)
        for _ in 0..<3 { directory.deleteLastPathComponent() }
        return directory.path + "/" + relative
    }

    /// All files below a folder with this suffix, relative to the project, sorted.
    static func files(below folder: String, named suffix: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: path(folder))
            .filter { $0.hasSuffix(suffix) }
            .map { folder + "/" + $0 }
            .sorted()
    }

    /// The pages of the examples. Builds leave other files in that folder.
    static func examples() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path("Examples")).map { "Examples/\($0)/README.md" }
            .filter { FileManager.default.fileExists(atPath: path($0)) }.sorted()
    }

    /// The pages about modules, beside their sources.
    static func modulePages() throws -> [String] { try files(below: "Sources", named: "/README.md") }

    static let catalogue = "Sources/WebImage/WebImage.docc"

    static func articles() throws -> [Document] { try files(below: catalogue, named: ".md").map(Document.init) }
}

/// Comparison of code that occurs in two places.
enum Code {
    static func trimmed(_ text: String) -> String {
        let start = text.drop { $0.isWhitespace }
        guard let end = start.lastIndex(where: { !$0.isWhitespace }) else { return "" }
        return String(start[...end])
    }

    /// The lines without their common indentation, and without empty ones around them.
    static func dedented(_ lines: [String]) -> String {
        let used = lines.filter { !trimmed($0).isEmpty }
        let indentation = used.map { $0.prefix { $0 == " " }.count }.min() ?? 0
        return trimmed(
            lines.map { trimmed($0).isEmpty ? "" : String($0.dropFirst(indentation)) }.joined(separator: "\n")
        )
    }

    /// The code with every run of white space as one space.
    static func flattened(_ code: String) -> String {
        code.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    /// The names of the modules that the code imports first, and the rest.
    static func split(_ code: String) -> (imports: [String], body: String) {
        var lines = code.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        var imports: [String] = []
        while let first = lines.first, first.hasPrefix("import ") || (first.isEmpty && !imports.isEmpty) {
            if !first.isEmpty { imports.append(String(first.dropFirst("import ".count))) }
            lines.removeFirst()
        }
        return (imports, dedented(lines))
    }
}
