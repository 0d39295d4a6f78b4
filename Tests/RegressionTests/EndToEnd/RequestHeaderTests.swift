import FoundationEssentials
import LoadingTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageCodecs

@Suite struct RequestHeaderTests {
    @Test(.timeLimit(.minutes(1)))
    func `Header fields of a context reach the server through the manager`() async throws {
        let body = [UInt8](try Fixtures.data("JPEG/baseline-420.jpg"))
        let harness = try EndToEndHarness { request in
            request.header("Authorization") == "Bearer 1" ? .response(body: body) : .response(401)
        }
        let url = harness.server.url("/a.jpg")
        var context = WebImageContext()
        context.additionalHeaders = ["Authorization": "Bearer 1"]
        #expect(await harness.error(url)?.statusCode == 401)
        _ = try await harness.manager.image(with: url, context: context)
        context.additionalHeaders["Authorization"] = "Bearer\r\n1"
        let other = harness.server.url("/b.jpg")
        await #expect(throws: WebImageError(.invalidDownloadOperation, "", url: other)) {
            try await harness.manager.image(with: other, context: context)
        }
        #expect(harness.server.requestCount() == 2)
    }
}
