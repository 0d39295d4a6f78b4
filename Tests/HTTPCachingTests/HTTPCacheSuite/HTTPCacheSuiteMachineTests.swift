import Testing
import WebImage

/// The public suite of tests for HTTP caches, against the decisions alone.
@Suite struct HTTPCacheSuiteMachineTests {
    @Test func `Cases come out as they say`() throws {
        for test in try HTTPCacheCaseParser.all().flatMap(\.cases) {
            let complaints = HTTPCacheMachineRun(test).complaints()
            if test.reason == nil {
                #expect(complaints.isEmpty, "\(test.id)")
            } else {
                #expect(!complaints.isEmpty, "\(test.id) says why it does not pass, and passes")
                #expect(test.kind != .required, "\(test.id) is required")
            }
        }
    }
}
