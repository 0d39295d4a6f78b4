import FoundationEssentials
import TestSupport
import Testing

/// Holds `Documentation/Parity.md` against the sources and the tests.
@Suite struct ParityTests {
    /// A row of one of the tables.
    struct Row {
        let line: Int
        let cells: [String]
    }

    private static let root: String = {
        let parts = #filePath.split(separator: "/", omittingEmptySubsequences: false)
        return parts.dropLast(3).joined(separator: "/")
    }()

    private static let rows: [Row] = {
        guard let text = text("Documentation/Parity.md") else { return [] }
        return text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().compactMap { index, line in
            guard line.hasPrefix("|"), !line.hasPrefix("|---"), !line.hasPrefix("| SDWebImage | Here |") else {
                return nil
            }
            let cells = line.dropFirst().dropLast(line.hasSuffix("|") ? 1 : 0)
                .split(separator: "|", omittingEmptySubsequences: false)
            return Row(line: index + 1, cells: cells.map(trimmed))
        }
    }()

    private static func text(_ path: String) -> String? {
        (try? Data(contentsOf: URL(filePath: root + "/" + path))).map { String(decoding: $0, as: UTF8.self) }
    }

    private static func files(below directory: String) -> [String] {
        swiftFiles(below: root + "/" + directory).compactMap {
            (try? Data(contentsOf: URL(filePath: $0))).map { String(decoding: $0, as: UTF8.self) }
        }
    }

    private static func swiftFiles(below directory: String) -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        return names.sorted().flatMap { name -> [String] in
            if name.hasSuffix(".swift") { return [directory + "/" + name] }
            return name.contains(".") || name == "Fixtures" ? [] : swiftFiles(below: directory + "/" + name)
        }
    }

    @Test func `The table is read`() {
        #expect(Self.rows.count > 400)
        #expect(!Self.files(below: "Sources").isEmpty && Self.suites["ParityTests"] != nil)
    }

    @Test func `Every row has three cells, and none is empty`() {
        for row in Self.rows {
            #expect(row.cells.count == 3 && row.cells.allSatisfy { !$0.isEmpty }, "line \(row.line): \(row.cells)")
        }
    }

    @Test func `Every row has a test that exists, or a reason`() {
        for row in Self.rows {
            guard let proof = row.cells.last else { continue }
            if let reason = ["No meaning: ", "Left: ", "Planned: "].first(where: proof.hasPrefix) {
                #expect(proof.utf8.count >= reason.utf8.count + 10, "line \(row.line) gives no reason")
                for suite in Self.codeSpans(proof) where suite.hasSuffix("Tests") {
                    #expect(Self.suites[suite] != nil, "line \(row.line): there is no suite \(suite)")
                }
                continue
            }
            for piece in Self.pieces(proof) {
                let suite = Self.codeSpans(piece).first ?? ""
                let name = Self.trimmed(piece.dropFirst(suite.count + 2))
                #expect(piece.hasPrefix("`") && !name.isEmpty, "line \(row.line): '\(piece)' is no suite and test")
                #expect(Self.suites[suite]?.contains(name) ?? false, "line \(row.line): there is no \(suite) '\(name)'")
            }
        }
    }

    @Test func `Every name of ours is in the sources`() {
        let words = Self.files(below: "Sources").reduce(into: Set<String>()) { $0.formUnion(Self.words($1)) }
        for row in Self.rows where row.cells.count == 3 {
            for span in Self.codeSpans(row.cells[1]) {
                for word in Self.words(span) {
                    #expect(words.contains(word), "line \(row.line): there is no \(word) of `\(span)`")
                }
            }
        }
    }

    @Test(arguments: SDWebImageNames.all)
    func `Nothing of SDWebImage's is forgotten`(names: SDWebImageNames) {
        let known = Self.rows.reduce(into: Set<String>()) { $0.formUnion(Self.words($1.cells.first ?? "")) }
        for name in names.names { #expect(known.contains(name), "\(names.kind): \(name)") }
    }

    @Test func `Each option bit has its number`() {
        let options = Self.rows.map(\.cells).compactMap { $0.first }.filter { $0.hasSuffix(")") }
        for (bit, name) in SDWebImageNames.options.names.enumerated() {
            #expect(options.contains("`\(name)` (\(bit))"), "\(name)")
        }
    }

    // MARK: Reading

    /// The names of the tests of each suite.
    private static let suites: [String: Set<String>] = {
        var suites: [String: Set<String>] = [:]
        for file in files(below: "Tests") {
            var current = ""
            for line in file.split(separator: "\n") {
                if let type = typeName(in: line) { current = type }
                guard let start = line.firstRange(of: "func `")?.upperBound,
                    let end = line[start...].firstIndex(of: "`")
                else { continue }
                suites[current, default: []].insert(String(line[start..<end]))
            }
        }
        return suites
    }()

    /// The type that a line at the left margin declares or extends.
    private static func typeName(in line: Substring) -> String? {
        guard let first = line.first, first != " ", first != "}", first != "/" else { return nil }
        for keyword in ["struct ", "class ", "enum ", "actor ", "extension "] {
            guard let range = line.firstRange(of: keyword),
                range.lowerBound == line.startIndex || line[line.index(before: range.lowerBound)] == " "
            else { continue }
            let name = line[range.upperBound...].prefix { $0.isLetter || $0.isNumber || $0 == "_" }
            if !name.isEmpty { return String(name) }
        }
        return nil
    }

    private static func pieces(_ proof: String) -> [String] {
        var pieces: [String] = []
        var rest = proof[...]
        while let range = rest.firstRange(of: "<br>") {
            pieces.append(String(rest[..<range.lowerBound]))
            rest = rest[range.upperBound...]
        }
        return pieces + [String(rest)]
    }

    private static func codeSpans(_ text: String) -> [String] {
        text.split(separator: "`", omittingEmptySubsequences: false).enumerated()
            .compactMap { $0.isMultiple(of: 2) ? nil : String($1) }
    }

    /// The words of a text that can be names.
    private static func words(_ text: String) -> Set<String> {
        let pieces = text.split { !($0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_")) }
        return Set(pieces.filter { $0.first?.isLetter ?? false }.map(String.init))
    }

    private static func trimmed(_ text: Substring) -> String {
        var text = text
        while text.first == " " { text.removeFirst() }
        while text.last == " " { text.removeLast() }
        return String(text)
    }
}
