import Glibc
import TestSupport
import Testing
import WebImage

@testable import WebImageServer

/// Originals that are not sent unprocessed. Without the program that draws, which is not built for sanitizers, drawings fail otherwise.
@Suite(.enabled(if: access(ProgramRun.product("webimage-decoder"), X_OK) == 0, "webimage-decoder has not been built"))
struct RefusedOriginalTests {
    @Test(arguments: [
        ("/a.svg", "<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>"), ("/a.jpg", "<html>"),
    ]) func `Only images are sent unprocessed, and no drawings`(path: String, text: String) async throws {
        let grammar = try ImgproxyGrammar(ImgproxyGrammar.Configuration())
        let server = try ServerUnderTest {
            $0.grammar = grammar
        } origin: { _ in
            .response(body: Array(text.utf8))
        }
        let address = server.origin.url(path).absoluteString
        #expect(await RawAnswer.get(server.server.port, "/_/raw:1/plain/" + address).status == 422)
    }
}
