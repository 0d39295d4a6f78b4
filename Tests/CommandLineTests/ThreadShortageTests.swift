import TestSupport
import Testing

/// The program with very little address space.
@Suite struct ThreadShortageTests {
    @Test(arguments: Array(stride(from: 100_000, through: 300_000, by: 20_000)) + [174_080])
    func `Without memory for threads the program reports it, and does not wait for any`(kibibytes: Int) async throws {
        let program = ProgramRun.product("webimage")
        let run = try await ProgramRun.run(
            "/bin/bash",
            ["-c", "ulimit -v \(kibibytes); exec timeout -s KILL 60 '\(program)' --help"]
        )
        // With less memory the libraries are not loaded, with more everything works.
        #expect(run.status != 137)
        if run.status == 71 { #expect(run.errors.contains("no threads")) }
        if run.status == 0 { #expect(run.output.contains("Usage")) }
    }
}
