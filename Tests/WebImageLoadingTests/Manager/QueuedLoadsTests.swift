import TestSupport
import Testing
import WebImageLoading

/// Very long queues.
@Suite(.timeLimit(.minutes(2))) struct QueuedLoadsTests {
    @Test(arguments: ["loads", "downloads"])
    func `A waiting load takes at most three kilobytes, and cancelling all is quick`(name: String) async throws {
        let run = try await ProgramRun.run(ProgramRun.product("heap-program"), ["hit-cost", name, "20000"])
        #expect(run.status == 0)
        let figures = run.lines.flatMap { $0.split(separator: " ") }.compactMap { Int($0) }
        try #require(figures.count == 2)
        #expect(figures[0] <= 3000)
        // Without optimization.
        #expect(figures[1] <= 1000)
    }
}
