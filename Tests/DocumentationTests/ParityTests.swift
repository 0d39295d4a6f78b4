import FoundationEssentials
import TestSupport
import Testing

/// Compares `Documentation/Parity.md` with SDWebImage's public names, the sources and the tests.
@Suite struct ParityTests {
    /// A row of one of the tables.
    struct Row {
        let line: Int
        /// The heading above it.
        let section: String
        let cells: [String]
    }

    private static let root: String = {
        let parts = #filePath.split(separator: "/", omittingEmptySubsequences: false)
        return parts.dropLast(3).joined(separator: "/")
    }()

    private static let lines: [Substring] = (text("Documentation/Parity.md") ?? "")
        .split(separator: "\n", omittingEmptySubsequences: false)

    private static let rows: [Row] = {
        var section = ""
        return lines.enumerated().compactMap { index, line in
            if line.hasPrefix("## ") { section = trimmed(line.dropFirst(3)) }
            guard line.hasPrefix("|"), !line.hasPrefix("|---"), !line.hasPrefix("| SDWebImage | Here |") else {
                return nil
            }
            let cells = line.dropFirst().dropLast(line.hasSuffix("|") ? 1 : 0)
                .split(separator: "|", omittingEmptySubsequences: false)
            return Row(line: index + 1, section: section, cells: cells.map(trimmed))
        }
    }()

    /// The version of SDWebImage, and its public names, as `Scripts/parity-names` lists them.
    private static let list: (version: String, names: [String]) = {
        let lines = (text("Documentation/parity-names.txt") ?? "").split(separator: "\n").map(String.init)
        return (lines.first ?? "", Array(lines.dropFirst()))
    }()

    /// The names of the section of names that are not on the list.
    private static let otherNames: Set<String> = {
        let section = lines.drop { $0 != "## Other names" }.dropFirst().prefix { !$0.hasPrefix("## ") }
        return Set(section.filter { $0.hasPrefix("- ") || $0.hasPrefix("  ") }.flatMap { codeSpans(String($0)) })
    }()

    /// The names that a code span of the first column stands for: a name, or all with that prefix if it ends with "…".
    private static func names(of span: String) -> [String] {
        guard span.hasSuffix("…") else { return list.names.contains(span) ? [span] : [] }
        let start = span.dropLast()
        return list.names.filter { $0.hasPrefix(start) }
    }

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

    @Test(arguments: ["SECURITY.md", "Documentation/Faults.md"])
    func `Every test that another page names exists`(page: String) throws {
        let tests = Self.files(below: "Tests").joined()
        // A code span that is a sentence is the name of a test.
        let spans = try #require(Self.text(page)).split(separator: "\n").flatMap { Self.codeSpans(String($0)) }
        let names = spans.filter { $0.first?.isUppercase == true && $0.split(separator: " ").count > 3 }
        #expect(names.count > 20)
        for name in names { #expect(tests.contains("`\(name)`") || tests.contains("\"\(name)\""), "\(name)") }
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

    @Test func `The list has the names of one version, sorted, each once`() {
        #expect(Self.list.version.hasPrefix("SDWebImage 5."))
        #expect(Self.lines.contains { $0.contains(Self.list.version) })
        #expect(Self.list.names.count > 700)
        let bytes = Self.list.names.map { Array($0.utf8) }
        #expect(zip(bytes, bytes.dropFirst()).allSatisfy { $0.lexicographicallyPrecedes($1) })
    }

    @Test func `Every public name of SDWebImage has a row`() {
        let known = Self.rows.reduce(into: Set<String>()) { known, row in
            for span in Self.codeSpans(row.cells.first ?? "") { known.formUnion(Self.names(of: span)) }
        }
        for name in Self.list.names { #expect(known.contains(name), "\(name) has no row") }
    }

    @Test func `The first column names nothing that SDWebImage does not have`() {
        var used: Set<String> = []
        for row in Self.rows where row.section != "Names of versions before 5" {
            for span in Self.codeSpans(row.cells.first ?? "") {
                if Self.otherNames.contains(span) {
                    used.insert(span)
                } else {
                    let count = Self.names(of: span).count
                    #expect(count >= (span.hasSuffix("…") ? 2 : 1), "line \(row.line): `\(span)` is not a public name")
                }
            }
        }
        #expect(!Self.otherNames.isEmpty && Self.otherNames.subtracting(used).isEmpty)
        #expect(Self.otherNames.isDisjoint(with: Self.list.names))
    }

    @Test func `Names in the first column are in code spans`() {
        let words: Set = ["ImageIO", "WebP", "macOS"]
        for row in Self.rows {
            let bare = Self.outside("\"", Self.outside("`", row.cells.first ?? ""))
            for word in Self.words(bare).subtracting(words) {
                let hasInnerCapital = zip(word, word.dropFirst()).contains { $0.isLowercase && $1.isUppercase }
                #expect(!hasInnerCapital && !word.hasPrefix("sd_"), "line \(row.line): \(word) is not in a code span")
            }
        }
    }

    @Test func `Each option bit has its number`() {
        let options = [
            "RetryFailed", "LowPriority", "ProgressiveLoad", "RefreshCached", "ContinueInBackground", "HandleCookies",
            "AllowInvalidSSLCertificates", "HighPriority", "DelayPlaceholder", "TransformAnimatedImage",
            "AvoidAutoSetImage", "ScaleDownLargeImages", "QueryMemoryData", "QueryMemoryDataSync", "QueryDiskDataSync",
            "FromCacheOnly", "FromLoaderOnly", "ForceTransition", "AvoidDecodeImage", "DecodeFirstFrameOnly",
            "PreloadAllFrames", "MatchAnimatedImageClass", "WaitStoreCache", "TransformVectorImage",
            "AvoidAutoCancelImage", "WaitTransition",
        ]
        let cells = Self.rows.compactMap(\.cells.first)
        for (bit, name) in options.enumerated() {
            #expect(cells.contains("`SDWebImage\(name)` (\(bit))"), "\(name)")
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

    /// The text without the parts between two of these marks.
    private static func outside(_ mark: Character, _ text: String) -> String {
        text.split(separator: mark, omittingEmptySubsequences: false).enumerated()
            .compactMap { $0.isMultiple(of: 2) ? String($1) : nil }.joined(separator: " ")
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
