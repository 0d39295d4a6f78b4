import Testing
import WebImage

/// The public test suite for HTTP caches, against the decision functions only.
@Suite struct HTTPCacheSuiteMachineTests {
    @Test func `Cases end as expected`() throws {
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
