import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// Runs the program against a loopback server, with its own cache and directory.
struct CommandLineHarness {
    let directory = TemporaryDirectory()
    var cache: String { directory.path("cache") }

    /// Runs the program in the harness's directory.
    func run(_ words: String..., environment: [String: String] = [:], input: String = "", terminal: Bool = false)
        async throws
        -> ProgramRun
    {
        try await run(words, environment: environment, input: input, terminal: terminal)
    }

    func run(
        _ words: [String],
        environment: [String: String] = [:],
        input: String = "",
        terminal: Bool = false,
        measuresMemory: Bool = false
    ) async throws -> ProgramRun {
        var variables = ["XDG_CACHE_HOME": directory.path("xdg"), "no_proxy": "*"]
        variables["SWIFT_BACKTRACE"] = "enable=yes,color=no,interactive=no"
        variables.merge(environment) { $1 }
        let run = try await ProgramRun.run(
            ProgramRun.product("webimage"),
            words,
            environment: variables,
            directory: directory.path,
            input: input,
            errorsToTerminal: terminal,
            measuresMemory: measuresMemory
        )
        let isCrash = [SIGILL, SIGABRT, SIGBUS, SIGSEGV, SIGTRAP].contains(run.status - 128)
        if isCrash { Issue.record("webimage \(words) crashed: \(run.errors)") }
        return run
    }

    /// The JSON objects that a run printed.
    static func objects(_ run: ProgramRun) throws -> [JSONLine] {
        try run.lines.map { try JSONDecoder().decode(JSONLine.self, from: Data($0.utf8)) }
    }
}

/// Any of the program's JSON objects.
struct JSONLine: Decodable {
    struct Failure: Decodable {
        var code: Int
        var message: String
    }
    struct Freshness: Decodable {
        var fresh: Bool
        var ageSeconds: Double
        var lifetimeSeconds: Double?
        var reason: String
    }
    var source: String?
    var key: String?
    var cacheType: String?
    var format: String?
    var width: Int?
    var height: Int?
    var frames: Int?
    var bytes: Int?
    var elapsedMs: Double?
    var output: String?
    var pass: Int?
    var path: String?
    var created: String?
    var modified: String?
    var accessed: String?
    var entries: Int?
    var pyramids: Int?
    var pyramidBytes: Int?
    var exists: Bool?
    var reason: String?
    var removed: Bool?
    var expired: Int?
    var trimmed: Int?
    var orientation: Int?
    var alpha: Bool?
    var colorProfile: String?
    var loopCount: Int?
    var durations: [Double]?
    var thumbHash: String?
    var blurHash: String?
    var explanation: String?
    var stale: Bool?
    var ageSeconds: Double?
    var freshness: Freshness?
    var error: Failure?
}

/// A fixture's bytes as sent by the server.
func fixtureBytes(_ name: String) throws -> [UInt8] { [UInt8](try Fixtures.data(name)) }
