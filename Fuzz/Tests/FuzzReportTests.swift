import FoundationEssentials
import TestSupport
import Testing

/// The report that `Scripts/fuzz` writes.
@Suite struct FuzzReportTests {
    private static let script = Fixtures.path("../../Scripts/fuzz")
    private let directory = TemporaryDirectory()

    @Test func `The report adds up all searches of a target`() throws {
        try log(
            "bmp",
            """
            == target\tbmp\twhat it tries
            INFO: Seed: 1
            #2\tINITED cov: 90 ft: 91 corp: 1/1b exec/s: 0 rss: 37Mb
            #1000\tDONE   cov: 120 ft: 200 corp: 9/90b lim: 8 exec/s: 10 rss: 40Mb
            stat::number_of_executed_units: 1000
            stat::peak_rss_mb:              40
            == end\t11\t0
            == target\tbmp\twhat it tries
            #500\tDONE   cov: 110 ft: 200 corp: 9/90b lim: 8 exec/s: 10 rss: 40Mb
            stat::number_of_executed_units: 234
            == end\t4\t77

            """
        )
        let run = try report()
        #expect(run.status == 0, "\(run.errors)")
        let text = try String(contentsOfFile: directory.path("Fuzzing.md"), encoding: .utf8)
        #expect(text.hasPrefix("# Fuzzing\n"))
        #expect(text.contains("| `bmp` | what it tries | 1234 | 15 | 120 | "))
        #expect(text.hasSuffix(" |\n"))
    }

    @Test func `Each target has a line`() throws {
        for name in ["png", "gif"] {
            try log(name, "== target\t\(name)\ttries \(name)\nstat::number_of_executed_units: 5\n== end\t1\t0\n")
        }
        _ = try report()
        let text = try String(contentsOfFile: directory.path("Fuzzing.md"), encoding: .utf8)
        let rows = text.split(separator: "\n").filter { $0.hasPrefix("| `") }
        #expect(rows.map { $0.prefix(7) } == ["| `gif`", "| `png`"])
    }

    @Test func `Without logs nothing is written, and the reason is printed`() throws {
        let run = try report()
        #expect(run.status == 1 && run.errors.contains("run Scripts/fuzz first"))
        #expect(!FileManager.default.fileExists(atPath: directory.path("Fuzzing.md")))
    }

    @Test func `Unknown arguments, and invalid times, are errors before anything is built`() throws {
        let unknown = try run("--bogus")
        #expect(unknown.status == 1 && unknown.errors.contains("unknown argument '--bogus'"))
        let time = try run("bmp", "soon")
        #expect(time.status == 1 && time.errors.contains("'soon' is no number of seconds"))
        let help = try run("--help")
        #expect(help.status == 0 && help.output.contains("Scripts/fuzz [TARGET [SECONDS]]"))
    }

    private func log(_ name: String, _ text: String) throws {
        try text.write(toFile: directory.path("\(name).txt"), atomically: false, encoding: .utf8)
    }

    private func report() throws -> ProgramRun { try run("--report") }

    private func run(_ arguments: String...) throws -> ProgramRun {
        try ProgramRun(
            Self.script,
            arguments,
            environment: ["WEBIMAGE_FUZZ_LOGS": directory.path, "WEBIMAGE_FUZZ_REPORT": directory.path("Fuzzing.md")]
        )
    }
}
