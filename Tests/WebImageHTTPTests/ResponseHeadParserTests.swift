import FoundationEssentials
import Testing

@testable import WebImageHTTP

@Suite struct ResponseHeadParserTests {
    /// Feeds lines and returns the number of complete heads.
    private func feed(_ parser: inout ResponseHeadParser, _ lines: [String]) throws(WebImageError) -> Int {
        var ends = 0
        for line in lines {
            let bytes = Array(line.utf8)
            let result: Result<Bool, WebImageError> = bytes.withUnsafeBytes { buffer in
                do throws(WebImageError) { return .success(try parser.consume(buffer)) } catch {
                    return .failure(error)
                }
            }
            if try result.get() { ends += 1 }
        }
        return ends
    }

    private func parser() -> ResponseHeadParser { ResponseHeadParser(maximumByteCount: 1000, maximumFieldCount: 5) }

    @Test func `Status, version and fields are parsed, and blanks trimmed`() throws {
        var parser = parser()
        let ends = try feed(&parser, ["HTTP/1.1 200 OK\r\n", "A:  b c \t\r\n", "a: d\r\n", "Empty:\r\n", "\r\n"])
        #expect(ends == 1)
        #expect(parser.statusCode == 200 && parser.httpVersion == "1.1")
        #expect(parser.headers["a"] == "b c, d" && parser.headers["empty"] == "")
    }

    @Test(arguments: [
        ("HTTP/2 204 \r\n", "2", 204), ("HTTP/1.0 404 Not Found\n", "1.0", 404), ("HTTP/3 200\r\n", "3", 200),
    ])
    func `Other versions are parsed`(example: (String, String, Int)) throws {
        var parser = parser()
        _ = try feed(&parser, [example.0, "\r\n"])
        #expect(parser.httpVersion == example.1 && parser.statusCode == example.2)
    }

    @Test(arguments: [
        "HTTP/1.1\r\n", "HTTP/1.1 abc\r\n", "HTTP/1.1 99999999999999999999 X\r\n", "ICY 200 OK\r\n", "HTTP/\r\n",
    ])
    func `A malformed status line has no status`(line: String) throws {
        var parser = parser()
        _ = try feed(&parser, [line, "\r\n"])
        #expect(parser.statusCode == 0)
    }

    @Test func `A second head replaces the first`() throws {
        var parser = parser()
        let ends = try feed(
            &parser,
            ["HTTP/1.1 302 Found\r\n", "Location: /b\r\n", "\r\n", "HTTP/1.1 200 OK\r\n", "X: 1\r\n", "\r\n"]
        )
        #expect(ends == 2 && parser.statusCode == 200)
        #expect(parser.headers["Location"] == nil && parser.headers["X"] == "1")
    }

    @Test func `A folded line continues the field before it`() throws {
        var parser = parser()
        _ = try feed(&parser, ["HTTP/1.1 200 OK\r\n", " lost\r\n", "A: 1\r\n", "\t 2\r\n", "no colon\r\n", "\r\n"])
        #expect(parser.headers["A"] == "1 2" && parser.headers.fields.count == 1)
    }

    @Test func `Bytes that are not UTF-8 do no harm`() throws {
        var parser = parser()
        _ = try feed(&parser, ["HTTP/1.1 200 OK\r\n"])
        let bytes: [UInt8] = [65, 58, 32, 0xff, 0xfe, 13, 10]
        let isEnd = try bytes.withUnsafeBytes { try parser.consume($0) }
        #expect(!isEnd && parser.headers["A"] != nil)
    }

    @Test func `The location of a redirect keeps its bytes, in any encoding`() throws {
        for (bytes, path) in [([0xE9], "/caf%E9"), ([0xC3, 0xA9], "/caf%C3%A9")] as [([UInt8], String)] {
            var parser = parser()
            _ = try feed(&parser, ["HTTP/1.1 302 Found\r\n"])
            _ = try (Array("location: /caf".utf8) + bytes + Array(" \r\n".utf8)).withUnsafeBytes {
                try parser.consume($0)
            }
            #expect(parser.headers["Location"] == path)
        }
    }

    @Test func `The limits are for all heads together`() throws {
        var parser = parser()
        let head = ["HTTP/1.1 302 Found\r\n", "A: 1\r\n", "B: 2\r\n", "\r\n"]
        _ = try feed(&parser, head + head)
        let fields = #expect(throws: WebImageError.self) { try feed(&parser, head) }
        #expect(fields?.limit == .init(name: "maximumResponseHeaderCount", allowed: 5, required: 6))
        let bytes = #expect(throws: WebImageError.self) { try feed(&parser, [String(repeating: "x", count: 1000)]) }
        #expect(bytes?.limit?.name == "maximumResponseHeaderByteCount")
    }
}

@Suite struct HTTPResponseTests {
    private func response(_ headers: HTTPHeaders) -> HTTPResponse {
        HTTPResponse(url: URL(filePath: "/"), statusCode: 200, headers: headers)
    }

    @Test func `The media type is without parameters and in lower case`() {
        #expect(response(["content-type": " Image/PNG ; charset=x"]).mimeType == "image/png")
        #expect(response(["Content-Type": ";"]).mimeType == nil)
        #expect(response([:]).mimeType == nil)
    }

    @Test func `A length is a non-negative number, and does not count for a coded body`() {
        #expect(response(["Content-Length": "12"]).expectedByteCount == 12)
        #expect(response(["Content-Length": "12", "Content-Encoding": "identity"]).expectedByteCount == 12)
        #expect(response(["Content-Length": "12", "Content-Encoding": "br"]).expectedByteCount == nil)
        #expect(response(["Content-Length": "12", "Transfer-Encoding": "chunked"]).expectedByteCount == nil)
        #expect(response(["Content-Length": "-1"]).contentLength == nil)
        #expect(response(["Content-Length": "99999999999999999999"]).contentLength == nil)
        #expect(response(["Content-Length": "x"]).contentLength == nil)
    }

    @Test func `Fields are replaced by name`() {
        let base: HTTPHeaders = ["A": "1", "B": "2"]
        let result = base.overlaid(with: ["a": "3", "C": "4"])
        #expect(result["A"] == "3" && result["B"] == "2" && result["C"] == "4" && result.fields.count == 3)
        #expect(base.overlaid(with: [:]) == base)
    }

    @Test func `The User-Agent token is ASCII without separators`() {
        let agent = UserAgent.make(executable: "Büro App/x", version: "1 0", machine: "arm (x)")
        #expect(agent == "Bro-App-x/1-0 (Linux; arm x)")
        #expect(UserAgent.make(executable: "", version: "1", machine: "") == "WebImage/1 (Linux)")
    }
}
