import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImage

/// The findings and seeds of searches, without libFuzzer.
@Suite(.tags(.addressSanitizer)) struct FuzzTargetTests {
    private static let names = FuzzTarget.all.map(\.name)

    /// `Fuzz`.
    private static let directory = Fixtures.path("../../Fuzz")

    @Test(arguments: names)
    func `Seeds violate no property`(name: String) throws {
        let target = try #require(FuzzTarget.named(name))
        let seeds = try target.allSeeds()
        #expect(!seeds.isEmpty)
        for (index, seed) in seeds.enumerated() {
            #expect(throws: Never.self, "seed \(index), \(seed.count) bytes") { try target.check(seed) }
        }
    }

    @Test(arguments: names)
    func `Damaged seeds violate no property`(name: String) throws {
        let target = try #require(FuzzTarget.named(name))
        var random = SeededGenerator(seed: 16)
        let seeds = try target.allSeeds().filter { !$0.isEmpty }.shuffled(using: &random).prefix(12)
        for seed in seeds {
            for damaged in DamagedFiles.corruptions(of: seed, count: 4) + [Data(seed.prefix(seed.count * 2 / 3))] {
                let text = damaged.base64EncodedString()
                #expect(throws: Never.self, "\(text)") { try target.check(damaged) }
            }
        }
    }

    @Test(arguments: names)
    func `Earlier findings are fixed`(name: String) throws {
        let target = try #require(FuzzTarget.named(name))
        let place = "\(Self.directory)/Regressions/\(name)"
        for file in Self.list(place) {
            let data = try Data(contentsOf: URL(fileURLWithPath: "\(place)/\(file)"))
            #expect(throws: Never.self, "\(file)") { try target.check(data) }
        }
    }

    @Test func `Every file of Regressions belongs to a target, and is small`() throws {
        for name in Self.list("\(Self.directory)/Regressions") where !name.hasPrefix(".") {
            #expect(Self.names.contains(name))
            let files = Self.list("\(Self.directory)/Regressions/\(name)")
            #expect(!files.isEmpty)
            for file in files {
                let data = try Data(contentsOf: URL(fileURLWithPath: "\(Self.directory)/Regressions/\(name)/\(file)"))
                #expect(data.count <= 24 << 10, "\(name)/\(file)")
            }
        }
    }

    @Test func `Empty input needs no check, and no target traps on it`() {
        for target in FuzzTarget.all {
            #expect(throws: Never.self, "\(target.name)") { try target.check(Data()) }
        }
    }

    @Test func `Names are different and fit for a command line`() {
        #expect(Set(Self.names).count == Self.names.count)
        for name in Self.names { #expect(name.allSatisfy { $0.isLowercase || $0 == "-" }, "\(name)") }
        for target in FuzzTarget.all { #expect(!target.summary.contains("\t") && !target.summary.contains("|")) }
        #expect(FuzzTarget.named("another") == nil)
    }

    @Test func `Every dictionary exists, is used, and has libFuzzer's format`() throws {
        let used = Set(FuzzTarget.all.compactMap(\.dictionary))
        let there = Self.list("\(Self.directory)/Dictionaries").filter { $0.hasSuffix(".dict") }.map { $0.dropLast(5) }
        #expect(Set(there.map(String.init)) == used)
        for name in used {
            let text = try String(contentsOfFile: "\(Self.directory)/Dictionaries/\(name).dict", encoding: .utf8)
            for line in text.split(separator: "\n") {
                #expect(Self.isEntry(line), "\(name): \(line)")
            }
        }
    }

    /// Returns whether a line is `name="bytes"` with `\\`, `\"` and `\xAB` in it.
    private static func isEntry(_ line: Substring) -> Bool {
        let parts = line.split(separator: "=", maxSplits: 1)
        guard parts.count == 2, parts[0].allSatisfy({ $0.isLetter || $0.isNumber }), parts[1].count > 2,
            parts[1].hasPrefix("\""), parts[1].hasSuffix("\"")
        else { return false }
        var rest = parts[1].dropFirst().dropLast()
        while let first = rest.popFirst() {
            guard first != "\"" else { return false }
            guard first == "\\" else { continue }
            guard let second = rest.popFirst() else { return false }
            if second == "\\" || second == "\"" { continue }
            guard second == "x", rest.prefix(2).count == 2, rest.prefix(2).allSatisfy(\.isHexDigit) else {
                return false
            }
            rest = rest.dropFirst(2)
        }
        return true
    }

    private static func list(_ directory: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []).sorted()
    }
}
