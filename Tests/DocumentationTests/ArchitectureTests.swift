import FoundationEssentials
import Testing

/// Architecture.md is a short map of all modules, and ColdLoad.md can be followed in the sources.
@Suite struct ArchitectureTests {
    /// The diagram and the list of types of ColdLoad.md.
    private static func coldLoad() throws -> (diagram: String, list: String) {
        let text = try Document("Documentation/ColdLoad.md").text
        let fences = text.ranges(of: "```")
        let list = try #require(text.firstRange(of: "<!-- Scripts/cold-load-types begin -->"))
        let end = try #require(text.firstRange(of: "<!-- Scripts/cold-load-types end -->"))
        try #require(fences.count == 2 && list.upperBound < end.lowerBound)
        return (
            String(text[fences[0].upperBound..<fences[1].lowerBound]),
            String(text[list.upperBound..<end.lowerBound])
        )
    }

    /// The text without comments, so that only code names a type.
    private static func code(of path: String) throws -> String {
        try Document(path).text.split(separator: "\n").filter { !$0.drop { $0 == " " }.hasPrefix("//") }
            .joined(separator: "\n")
    }

    private static func declares(_ name: Substring, _ code: String) -> Bool {
        ["class", "struct", "enum", "protocol", "extension"].contains { kind in
            code.ranges(of: "\(kind) \(name)").contains { range in
                code[range.upperBound...].first.map { !$0.isLetter && !$0.isNumber } ?? true
            }
        }
    }

    @Test func `Each step of a cold load is in the file beside it`() throws {
        var count = 0
        for line in try Self.coldLoad().diagram.split(separator: "\n") where line.hasSuffix(".swift") {
            let words = line.split { " ,".contains($0) }
            let name = try #require(words.first { $0.first?.isUppercase ?? false })
            let path = "Sources/WebImage\(try #require(words.last))"
            #expect(try Self.declares(name, Self.code(of: path)), "\(path) has no \(name)")
            count += 1
        }
        #expect(count > 25)
    }

    @Test func `A cold load passes at most sixty types, each in the listed folder`() throws {
        var count = 0
        let list = try Self.coldLoad().list
        for line in list.split(separator: "\n") where line.hasPrefix("* ") {
            let folder = try #require(line.dropFirst(2).split(separator: ":").first)
            let code = try Project.files(below: "Sources/\(folder)", named: ".swift").map(Self.code).joined()
            let words = line.split(separator: "`", omittingEmptySubsequences: false)
            for (index, name) in words.enumerated() where !index.isMultiple(of: 2) {
                #expect(Self.declares(name, code), "\(folder) has no \(name)")
                count += 1
            }
        }
        #expect(count > 30 && count <= 60)
        #expect(list.contains("The \(count) types"))
    }

    @Test func `The map is at most 8 KiB, and links to the page of each module`() throws {
        let map = try Document("Documentation/Architecture.md").text
        #expect(map.utf8.count <= 8 << 10)
        let pages = try Project.modulePages()
        #expect(pages.count >= 11)
        for page in pages { #expect(map.contains("(../\(page))"), "the map has no link to \(page)") }
    }
}
