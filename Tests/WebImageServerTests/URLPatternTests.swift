import Testing

@testable import WebImageServer

@Suite struct URLPatternTests {
    @Test(arguments: [
        ("", "anything", 0, []), ("a", "ab", 1, []), ("a*", "abc/d", 3, ["bc"]), ("*", "/x", 0, [""]),
        ("a*b", "aXbYb/b", 5, ["XbY"]), ("*/*/", "a/b/c/", 4, ["a", "b"]), ("**", "ab/", 2, ["ab", ""]),
        ("a*b*c", "abbcc", 5, ["b", "c"]), ("s3://*/*.jpg", "s3://bucket/a.jpg.jpg", 21, ["bucket", "a.jpg"]),
    ])
    func `A wildcard is as long as possible and contains no slash`(
        _ pattern: String,
        _ url: String,
        _ end: Int,
        _ wildcards: [String]
    ) throws {
        let bytes = Array(url.utf8)
        let match = try #require(URLPattern(pattern).match(in: bytes))
        #expect(match.end == end)
        #expect(match.wildcards.map { String(decoding: bytes[$0], as: UTF8.self) } == wildcards)
    }

    @Test(arguments: [("a", ""), ("a", "ba"), ("a*c", "ab/c"), ("*x", "abc"), ("http://*.a/", "http://b/.a/")])
    func `Another beginning does not match`(_ pattern: String, _ url: String) {
        #expect(!URLPattern(pattern).matches(Array(url.utf8)))
    }

    @Test(arguments: [
        ("mys3://", "s3://bucket/images/", "mys3://a.jpg", "s3://bucket/images/a.jpg"),
        ("mys3://*/", "s3://bucket/${1}/images/", "mys3://items/a.jpg", "s3://bucket/items/images/a.jpg"),
        ("*/*/", "${2}-${1}-${3}${x}${/", "a/b/c", "b-a-${/c"), ("z", "y", "abc", "abc"),
    ])
    func `A replacement puts the wildcards where it names them`(
        _ pattern: String,
        _ replacement: String,
        _ url: String,
        _ result: String
    ) {
        let replaced = URLReplacement(pattern: pattern, replacement: replacement).applied(to: Array(url.utf8))
        #expect(String(decoding: replaced, as: UTF8.self) == result)
    }

    @Test func `Many wildcards take no more than linear time`() {
        let pattern = URLPattern(String(repeating: "*a", count: 20) + "b")
        let url = [UInt8](repeating: UInt8(ascii: "a"), count: 50_000)
        #expect(!pattern.matches(url))
        #expect(pattern.match(in: url + Array("b".utf8))?.end == 50_001)
    }
}
