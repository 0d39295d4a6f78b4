import FoundationEssentials
import TestSupport

/// A property that some bytes have violated.
struct FuzzFinding: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// Fails unless a property holds.
func must(_ holds: Bool, _ words: @autoclosure () -> String) throws(FuzzFinding) {
    guard holds else { throw FuzzFinding(words()) }
}

/// Code that parses untrusted data, and the properties that must hold for any data.
///
/// Crashes, buffer overruns, unlimited allocations and endless loops are found by libFuzzer and the address sanitizer;
/// `check` finds other errors. Its behaviour follows only from the bytes, so that a file of them is the finding.
struct FuzzTarget: Sendable {
    /// Fixtures of the seed corpus.
    struct Fixtures: Sendable {
        /// Below the fixtures of the tests.
        var directory: String
        /// The suffixes of names.
        var suffix: String
        /// The prefixes of names.
        var prefix = ""
    }

    typealias Check = @Sendable (Data) throws(FuzzFinding) -> Void

    /// The name on the command line, and of its directories.
    let name: String
    /// The tested code, as a line of a table.
    let summary: String
    /// Bytes of the longest input that is tried.
    var longestInput = 4096
    /// Seconds after which an input counts as endless.
    var timeout = 10
    /// A file of Fuzz/Dictionaries, without extension.
    var dictionary: String?
    var fixtures: [Fixtures] = []
    /// Generated seeds.
    var seeds: @Sendable () -> [Data] = { [] }
    let check: Check

    /// The seed corpus: fixtures that are short enough, and generated ones.
    func allSeeds() throws -> [Data] {
        var result = seeds()
        for place in fixtures {
            for name in Self.names(of: place) {
                let data = try TestSupport.Fixtures.data("\(place.directory)/\(name).\(place.suffix)")
                if data.count <= longestInput { result.append(data) }
            }
        }
        return result
    }

    private static func names(of place: Fixtures) -> [String] {
        TestSupport.Fixtures.names(in: place.directory, ending: place.suffix).filter { $0.hasPrefix(place.prefix) }
    }
}

extension FuzzTarget {
    /// All of them, in the order in which they run.
    static let all: [FuzzTarget] =
        pictures + regions + formats + files + http + redis + s3 + addresses + server

    /// The one of a name.
    static func named(_ name: String) -> FuzzTarget? { all.first { $0.name == name } }
}

extension Data {
    /// The bytes as text; invalid UTF-8 becomes replacement characters.
    var text: String { String(decoding: self, as: UTF8.self) }

    /// The bytes up to the first line feed, and those after it.
    var halves: (first: Data, second: Data) {
        guard let end = firstIndex(of: 0x0A) else { return (self, Data()) }
        return (Data(self[..<end]), Data(self[index(after: end)...]))
    }
}
