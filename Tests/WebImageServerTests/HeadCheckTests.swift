import Testing
import WebImage

@testable import WebImageServer

@Suite struct HeadCheckTests {
    private static let host = ("Host", "images.example")

    private func status(
        _ headers: [(String, String)] = [host],
        method: String = "GET",
        target: String = "/a",
        version: String = "HTTP/1.1",
        fieldCount: Int? = nil
    ) -> Int {
        var fields = HTTPHeaders()
        for (name, value) in headers { fields.add(name: name, value: value) }
        do throws(HeadCheck.Refusal) {
            _ = try HeadCheck().check(
                method: method,
                target: target,
                version: version,
                headers: fields,
                fieldCount: fieldCount ?? headers.count
            )
            return 200
        } catch {
            return error.status
        }
    }

    @Test func `Only GET, HEAD and OPTIONS are accepted`() {
        for method in ["GET", "HEAD", "OPTIONS"] { #expect(status(method: method) == 200) }
        for method in ["POST", "PUT", "DELETE", "CONNECT", "TRACE", "PATCH", "get", "", "G\u{e9}T"] {
            #expect(status(method: method) == 405, "\(method)")
        }
    }

    @Test(arguments: [
        ("Transfer-Encoding", "chunked"), ("transfer-encoding", "identity"), ("Transfer-Encoding", ""),
        ("Content-Length", "1"), ("Content-Length", "00"), ("Content-Length", "+0"), ("Content-Length", "0, 0"),
        ("content-length", " 0"), ("Content-Length", "-0"), ("Content-Length", ""),
    ])
    func `A body is refused, however it is announced`(_ name: String, _ value: String) {
        #expect(status([Self.host, (name, value)]) == 400)
    }

    @Test func `One length of zero is accepted, two are not`() {
        #expect(status([Self.host, ("Content-Length", "0")]) == 200)
        #expect(status([Self.host, ("Content-Length", "0"), ("content-length", "0")]) == 400)
    }

    @Test func `A request names one host`() {
        #expect(status([]) == 400)
        #expect(status([], version: "HTTP/1.0") == 200)
        #expect(status([Self.host, ("host", "other")]) == 400)
        for value in ["a b", "a/b", "a,b", "a@b", "a\u{0}b", "a\"b"] { #expect(status([("Host", value)]) == 400) }
        for value in ["", "[::1]:80", "a:80", "xn--a_b"] { #expect(status([("Host", value)]) == 200) }
    }

    @Test func `Invalid names and values are refused`() {
        for name in ["Foo ", "", "a b", "a:b", "f\u{f6}o", "a\u{0}"] {
            #expect(status([Self.host, (name, "x")]) == 400)
        }
        for value in ["a\u{0}b", "a\rb", "a\nb", "\u{7f}", "\u{1}"] {
            #expect(status([Self.host, ("X", value)]) == 400)
        }
        #expect(status([Self.host, ("X", "a\tb \u{fc}")]) == 200)
    }

    @Test func `Sizes are limited`() {
        #expect(status(target: "/" + String(repeating: "a", count: 8 << 10)) == 414)
        #expect(status(target: "/" + String(repeating: "a", count: 8191)) == 200)
        #expect(status(fieldCount: 101) == 431)
        #expect(status([Self.host, ("X", String(repeating: "a", count: 16 << 10))]) == 431)
    }

    @Test func `Versions and expectations that are not known are refused`() {
        for version in ["HTTP/2.0", "HTTP/1.2", "HTTP/0.9", "http/1.1", ""] { #expect(status(version: version) == 505) }
        #expect(status([Self.host, ("Expect", "100-continue")]) == 417)
    }

    @Test func `A target is a path, an asterisk for OPTIONS, or an absolute URL`() throws {
        for target in ["", "a", "a/b", "ftp://a/b", "http:///b", "http://a b/", "/a b", "/a#b", "/\u{e4}", "*"] {
            #expect(status(target: target) == 400, "\(target)")
        }
        #expect(status(method: "OPTIONS", target: "*") == 200)
        let check = HeadCheck()
        let absolute = try check.check(
            method: "GET",
            target: "HTTP://other:80/a?b",
            version: "HTTP/1.1",
            headers: ["Host": "a"],
            fieldCount: 1
        )
        #expect(absolute.target == "/a?b")
    }
}
