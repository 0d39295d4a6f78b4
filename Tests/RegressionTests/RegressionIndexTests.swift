import FoundationEssentials
import Testing

@Suite struct RegressionIndexTests {
    /// The traps of other image loaders, and the complaints of their users, that concern this library.
    private static let names =
        (1...16).map { "Trap \($0)" }
        + [6...15, 19...26, 28...29, 31...32, 35...35, 37...37].joined().map { "Complaint \($0)" }

    @Test func `Every trap and complaint has a test named after it`() throws {
        let directory = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let files = try FileManager.default.subpathsOfDirectory(atPath: directory.path).filter {
            $0.hasSuffix(".swift")
        }
        var found: [String: [String]] = [:]
        for file in files {
            let text = try String(contentsOf: directory.appendingPathComponent(file), encoding: .utf8)
            for piece in text.split(separator: "func `").dropFirst() {
                guard let name = piece.split(separator: "`").first, let colon = name.firstIndex(of: ":") else {
                    continue
                }
                found[String(name[..<colon]), default: []].append(String(name[colon...]))
            }
        }
        #expect(Self.names.count == 16 + 24)
        for name in Self.names {
            let facts = found[name] ?? []
            #expect(!facts.isEmpty, "\(name) has no test")
            #expect(facts.allSatisfy { $0.count > 15 }, "a test of \(name) states no fact")
        }
    }
}
