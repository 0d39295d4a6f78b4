import Testing
import WebImage

@testable import WebImageServer

@Suite struct ImgproxySourceTests {
    private let origin = "http://images.dev/lorem/ipsum.jpg?param=value"

    private var encoded: String { ImgproxyRequests.base64(origin) }

    @Test func `A base64 source has an extension`() throws {
        let request = try ImgproxyRequests().request("size:100:100/\(encoded).png")
        #expect(request.source == origin)
        #expect(request.options.format == .png)
    }

    @Test func `A base64 source needs no extension`() throws {
        for suffix in ["", ".", "==", "==."] {
            let request = try ImgproxyRequests().request("size:100:100/\(encoded)\(suffix)")
            #expect(request.source == origin)
            #expect(request.options.format == nil)
        }
    }

    @Test func `A file name follows a base64 source if that is configured`() throws {
        var requests = ImgproxyRequests()
        #expect(throws: ServerError.self) { try requests.request("size:100:100/\(encoded).png/puppy.jpg") }
        requests.configuration.base64IncludesFilename = true
        let request = try requests.request("size:100:100/\(encoded).png/puppy.jpg")
        #expect(request.source == origin)
        #expect(request.options.format == .png)
        #expect(try requests.request("\(encoded)").source == origin)
    }

    @Test func `Slashes may stand anywhere in base64`() throws {
        for length in [1, 3, 16] {
            var parts: [Substring] = []
            var rest = encoded[...]
            while !rest.isEmpty {
                parts.append(rest.prefix(length))
                rest = rest.dropFirst(length)
            }
            #expect(try ImgproxyRequests().request("w:1/\(parts.joined(separator: "/")).webp").source == origin)
        }
    }

    @Test func `The base URL stands in front of sources that do not begin with it`() throws {
        var requests = ImgproxyRequests()
        requests.configuration.baseURL = "http://images.dev/"
        let relative = "lorem/ipsum.jpg?param=value"
        #expect(try requests.request("\(ImgproxyRequests.base64(relative)).png").source == origin)
        #expect(try requests.request("\(encoded).png").source == origin)
        #expect(try requests.request("plain/lorem/ipsum.jpg@png").source == ImgproxyRequests.source)
        #expect(try requests.request("plain/lorem%2Fipsum.jpg%3Fparam%3Dvalue@png").source == origin)
    }

    @Test func `Replacements are applied one after the other, before the base URL`() throws {
        var requests = ImgproxyRequests()
        requests.configuration.replacements = [
            URLReplacement(pattern: "test://*/", replacement: "test2://images.dev/${1}/dolor/"),
            URLReplacement(pattern: "test2://", replacement: "http://"),
        ]
        let replaced = "http://images.dev/lorem/dolor/ipsum.jpg"
        let query = ImgproxyRequests.base64("test://lorem/ipsum.jpg?param=value")
        #expect(try requests.request("size:1:1/\(query).png").source == replaced + "?param=value")
        #expect(try requests.request("size:1:1/plain/test://lorem/ipsum.jpg@png").source == replaced)
    }

    @Test func `A plain source has an extension`() throws {
        let request = try ImgproxyRequests().request("size:100:100/plain/\(ImgproxyRequests.source)@png")
        #expect(request.source == ImgproxyRequests.source)
        #expect(request.options.format == .png)
    }

    @Test func `A plain source needs no extension and no options`() throws {
        for path in ["size:100:100/plain/\(ImgproxyRequests.source)", "plain/\(ImgproxyRequests.source)@"] {
            let request = try ImgproxyRequests().request(path)
            #expect(request.source == ImgproxyRequests.source)
            #expect(request.options.format == nil)
        }
    }

    @Test func `A plain source is percent-encoded`() throws {
        let escaped = "http:%2F%2Fimages.dev%2Florem%2Fipsum.jpg%3Fparam=value"
        #expect(try ImgproxyRequests().request("plain/\(escaped)@png").source == origin)
        let text = "plain/https%3A%2F%2Fimages.test%2F%D0%B8%20%25%40.jpg"
        #expect(try ImgproxyRequests().request(text).source == "https://images.test/и %@.jpg")
        // A plus sign is one.
        #expect(try ImgproxyRequests().request("plain/http://a/b+c").source == "http://a/b+c")
    }

    @Test(arguments: [
        "w:1", "w:1/", "w:1/plain", "w:1/plain/", "w:1/plain/@png", "w:1/plain/a@png@jpg", "w:1/plain/%",
        "w:1/plain/%4",
        "w:1/plain/%4g", "w:1/.png", "w:1/YQ.png.jpg", "w:1/Y", "w:1/Y+Q", "w:1/Y=Q", "w:1/plain/a%0Ab",
        "w:1/plain/a%00",
        "w:1/plain/%FF", "w:1/gA", "plain/http://a@tif", "plain/http://a@nope", "fit/100/100/no/0/YQ.png",
        "force/1/1/ce/1/YQ", "fill/plain/http://a", "fill-down/YQ",
    ])
    func `An invalid source is an error`(_ path: String) {
        let error = #expect(throws: ServerError.self) { try ImgproxyRequests().request(path) }
        #expect(error?.status == 400)
    }

    @Test(arguments: [
        ("w:1/enc/YWJj.png", "enc"), ("w:1/-/w:2/plain/http://a", "-"), ("w:1/plain/http://a@best", "format.best"),
        ("w:1/YQ.mp4", "format.mp4"),
    ])
    func `What only imgproxy Pro has is refused by name`(_ path: String, _ name: String) {
        let error = #expect(throws: ServerError.self) { try ImgproxyRequests().request(path) }
        #expect(error == .unsupportedOption(name))
        #expect(error?.status == 422)
    }

    @Test func `The info endpoint is refused by name`() throws {
        let grammar = try ImgproxyGrammar(ImgproxyGrammar.Configuration())
        let error = #expect(throws: ServerError.self) { try grammar.request(forPath: "/info/_/plain/http://a") }
        #expect(error == .unsupportedOption("info"))
    }

    @Test func `Only allowed sources are accepted`() throws {
        var requests = ImgproxyRequests()
        requests.configuration.allowedSources = ["http://images.dev/", "https://*.example.com/*/public/", "local://"]
        for source in [
            "http://images.dev/a", "https://x.example.com/y/public/", "https://.example.com//public/a", "local:///a",
        ] {
            #expect(try requests.request("plain/\(source)").source == source)
        }
        for source in [
            "http://images.dev", "http://images.dev@evil.test/", "https://x/example.com/y/public/", "xlocal://",
            "https://x.example.com/y/private/", "https://example.com/y/public/", "HTTP://images.dev/",
        ] {
            let path = ImgproxyRequests.base64(source)
            let error = #expect(throws: ServerError.self) { try requests.request(path) }
            #expect(error == .forbiddenSource)
        }
    }

    @Test func `The base URL counts for allowed sources`() throws {
        var requests = ImgproxyRequests()
        requests.configuration.baseURL = "https://images.dev/"
        requests.configuration.allowedSources = ["https://images.dev/a/"]
        #expect(try requests.request("plain/a/b.jpg").source == "https://images.dev/a/b.jpg")
        #expect(throws: ServerError.forbiddenSource) { try requests.request("plain/b.jpg") }
    }
}
