import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageServer

/// Redirects to URLs with a format, for caches that ignore `Vary`.
@Suite(.tags(.threadSanitizer)) struct RedirectTests {
    private func server(
        _ grammar: any URLGrammar,
        _ fixture: String = "Options/photo.jpg"
    ) throws -> ServerUnderTest {
        let bytes = try Array(Fixtures.data(fixture))
        return try ServerUnderTest {
            $0.grammar = grammar
            $0.negotiation = .redirect
        } origin: { _ in
            .response(headers: [("Cache-Control", "max-age=600")], body: bytes)
        }
    }

    private func signed() throws -> (grammar: ImgproxyGrammar, path: @Sendable (String) -> String) {
        var configuration = ImgproxyGrammar.Configuration()
        configuration.keys = [SignatureKey(key: [1, 2, 3], salt: [4]), SignatureKey(key: [5], salt: [])]
        configuration.pathPrefix = "/img"
        let path = { @Sendable (rest: String) -> String in
            let code = MessageAuthentication.sha256.code(of: Array("/\(rest)".utf8), key: [5]) ?? []
            let text = URLBytes.base64Encoded(code[...], isPadded: false)
            return "/img/\(String(decoding: text, as: UTF8.self))/\(rest)"
        }
        return (try ImgproxyGrammar(configuration), path)
    }

    @Test(arguments: [("image/webp", "webp", "image/webp"), ("*/*", "jpg", "image/jpeg")])
    func `The client is sent to a signed URL with its format`(accept: String, name: String, type: String) async throws {
        let (grammar, path) = try signed()
        let server = try server(grammar)
        let source = "rs:fit:40:40/plain/" + server.origin.url("/a.jpg").absoluteString
        let port = server.server.port
        let answer = await RawAnswer.get(port, path(source), [("Accept", accept)])
        #expect(answer.status == 302 && answer.body.isEmpty)
        #expect(answer.headers["Cache-Control"]?.hasPrefix("private, max-age=") == true)
        #expect(answer.headers["Vary"] == "Accept")
        let location = try #require(answer.headers["Location"])
        #expect(location.hasSuffix("/\(source)@\(name)"))
        // The target is the same for everybody, and was made already.
        let image = await RawAnswer.get(port, location, [("Accept", "image/webp;q=0")])
        #expect(image.status == 200)
        #expect(image.headers["Content-Type"] == type)
        #expect(image.headers["Vary"] == nil && image.headers["Cache-Control"]?.hasPrefix("public") == true)
        #expect(server.server.service.manager.encodeCount == 1 && server.origin.requestCount() == 1)
        #expect(await RawAnswer.get(port, path(source), [("Accept", accept)]).headers["Location"] == location)
    }

    @Test func `Formats without a name in URLs are sent to this client only`() async throws {
        let server = try server(TestGrammar())
        let answer = await server.get("/w:40", [("Accept", "image/webp")])
        #expect(answer.status == 200 && answer.headers["Content-Type"] == "image/webp")
        #expect(answer.headers["Cache-Control"]?.hasPrefix("private, max-age=") == true)
    }

    @Test func `Paths get a format, whatever their syntax`() throws {
        var configuration = ImgproxyGrammar.Configuration()
        configuration.base64IncludesFilename = true
        let imgproxy = try ImgproxyGrammar(configuration)
        #expect(imgproxy.path("/_/w:1/plain/http://a/b?c", naming: .webp) == "/_/w:1/plain/http://a/b@webp")
        #expect(imgproxy.path("/_/plain/http://a/b@", naming: .avif) == "/_/plain/http://a/b@avif")
        #expect(imgproxy.path("/_/w:1/aHR0cDovL2E/name.jpg", naming: .jpegXL) == "/_/w:1/aHR0cDovL2E.jxl/name.jpg")
        #expect(imgproxy.path("/_/w:1/aHR0cDovL2E", naming: .tiff) == nil)
        var thumbor = ThumborGrammar.Configuration()
        thumbor.keys = [Array("key".utf8)]
        thumbor.allowsUnsafe = true
        let grammar = ThumborGrammar(thumbor)
        #expect(
            grammar.path("/unsafe/3x2/smart/a.jpg", naming: .webp) == "/unsafe/3x2/smart/filters:format(webp)/a.jpg"
        )
        #expect(
            grammar.path("/unsafe/filters:quality(8)/a.jpg", naming: .png)
                == "/unsafe/filters:format(png):quality(8)/a.jpg"
        )
        let code = MessageAuthentication.sha1.code(of: Array("3x2/a.jpg".utf8), key: Array("key".utf8)) ?? []
        let signature = String(decoding: URLBytes.base64Encoded(code[...], isPadded: true), as: UTF8.self)
        let named = try #require(grammar.path("/\(signature)/3x2/a.jpg", naming: .webp))
        #expect(try grammar.request(forPath: named).options.format == .webp)
        #expect(!named.hasPrefix("/\(signature)/"))
    }
}
