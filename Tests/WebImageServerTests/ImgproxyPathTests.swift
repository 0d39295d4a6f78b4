import Testing

@testable import WebImageServer

/// How paths are divided and repaired before the signature is checked: the facts of imgproxy's own tests, and more.
@Suite struct ImgproxyPathTests {
    @Test(arguments: [
        ("/sig/rs:fill:30:20/plain/http://a.test/i.jpg", "", "sig", "rs:fill:30:20/plain/http://a.test/i.jpg"),
        ("/sig/w:1/plain/http://a.test/i.jpg?x=1&y=2", "", "sig", "w:1/plain/http://a.test/i.jpg"),
        ("/img/sig/w:1/plain/http://a.test/i.jpg", "/img", "sig", "w:1/plain/http://a.test/i.jpg"),
        ("/sig/w:1/plain/https:/a.test/b/i.jpg", "", "sig", "w:1/plain/https://a.test/b/i.jpg"),
        ("/sig/rs%3Afill%3A30%3A20/plain/https://a.test/i.jpg", "", "sig", "rs:fill:30:20/plain/https://a.test/i.jpg"),
        ("/sig/rs%3Afill%3A30%3A20/aHR0/cDov", "", "sig", "rs:fill:30:20/aHR0/cDov"),
        // Without the leading slash, as in HTTP/1.1's absolute form after a proxy.
        ("sig/w:1/abc", "", "sig", "w:1/abc"),
    ])
    func `A path is a signature and what it signs`(
        _ target: String,
        _ prefix: String,
        _ signature: String,
        _ signed: String
    ) throws {
        let path = try ImgproxyPath(target, prefix: prefix)
        #expect(String(decoding: path.signature, as: UTF8.self) == signature)
        #expect(String(decoding: path.signed, as: UTF8.self) == signed)
    }

    @Test(arguments: ["", "/", "/only", "/only/", "//", "//x", "/?/x", "/sig/?x", "/sig//"])
    func `A path without both is an error`(_ target: String) {
        let error = #expect(throws: ServerError.self) { try ImgproxyPath(target, prefix: "") }
        #expect(error?.status == 400)
        #expect(error?.message == "Invalid URL")
    }

    @Test(arguments: ["/sig/w:1/abc", "/imgs/sig/abc", "/img", "/im/g/x"])
    func `A path without the prefix is not found`(_ target: String) {
        let error = #expect(throws: ServerError.self) { try ImgproxyPath(target, prefix: "/img") }
        #expect(error == .notFound)
    }

    @Test(arguments: [
        ("plain/http:/a.test/i.jpg", "plain/http://a.test/i.jpg"),
        ("plain/https:/a.test/i.jpg", "plain/https://a.test/i.jpg"),
        ("plain/local:/i.jpg", "plain/local:///i.jpg"),
        ("/rs:fill:30:20/plain/http:/a.test/i.jpg", "rs:fill:30:20/plain/http://a.test/i.jpg"),
        ("/plain/http://a.test/i.jpg", "plain/http://a.test/i.jpg"),
        ("/rs:fill:30:20/plain/a.test/i.jpg", "rs:fill:30:20/plain/a.test/i.jpg"),
        ("", ""), ("/", ""),
        ("/http:/a.test/i.jpg", "http:/a.test/i.jpg"),
        ("/plain/a.test/i.jpg", "plain/a.test/i.jpg"),
        ("/plain/http:", "plain/http:"), ("/plain/http:/", "plain/http:/"),
        ("/plain/http:/x", "plain/http://x"),
        // Only options and the scheme are repaired, not the rest of a source.
        ("w%3A1/plain/http://a.test/b%3Ac", "w:1/plain/http://a.test/b%3Ac"),
        ("plain/http:/a.test/b:/c", "plain/http://a.test/b:/c"),
        ("plain/http://a.test/b:/c", "plain/http://a.test/b:/c"),
        ("plain/a b:/c", "plain/a b:/c"), ("plain/:/c", "plain/:/c"),
    ])
    func `What proxies change is repaired`(_ path: String, _ repaired: String) {
        #expect(String(decoding: ImgproxyPath.repaired(Array(path.utf8)[...]), as: UTF8.self) == repaired)
    }
}
