import TestSupport
import Testing
import WebImageLoading

@Suite(.timeLimit(.minutes(1))) struct ForkTests {
    @Test
    func `In a forked child loads end with an error and do not wait for missing threads`() async throws {
        let run = try await ProgramRun.run(ProgramRun.product("test-program"), ["main-queue", "fork"])
        let refused = WebImageError.Code.invalidDownloadOperation.rawValue
        #expect(run.status == 0)
        #expect(run.lines == ["\(WebImageError.Code.fileNotFound.rawValue) \(refused) \(refused)"])
    }
}
