import Testing
import WebImage

@testable import WebImageServer

@Suite struct ImgproxyPresetTests {
    private func presets(_ texts: String...) throws -> [String: [ImgproxyArguments]] {
        try ImgproxyGrammar(ImgproxyRequests(presets: texts).configuration).presets
    }

    @Test func `A preset is a name and options`() throws {
        #expect(
            try presets("test=resize:fit:100:200/sharpen:2", "  b = w:1 ") == [
                "test": [
                    ImgproxyArguments(name: "resize", values: ["fit", "100", "200"]),
                    ImgproxyArguments(name: "sharpen", values: ["2"]),
                ],
                "b": [ImgproxyArguments(name: "w", values: ["1"])],
            ]
        )
    }

    @Test func `Empty presets and comments are ignored`() throws {
        #expect(try presets("   ", "", "#  test=resize:fit:100:200/sharpen:2").isEmpty)
    }

    @Test(arguments: [
        "resize:fit:100:200/sharpen:2", "=resize:fit:100:200/sharpen:2", "test=", "test=  ",
        "test=resize:fit:100:200/sharpen:2/blur", "test=w:1=2", "test=resize:fit:-1:-2/sharpen:2", "test=nope:1",
        "test=preset:other", "test=monochrome:1",
    ])
    func `An invalid preset is an error at the start`(_ text: String) {
        #expect(throws: GrammarConfigurationError.self) { try presets(text) }
    }

    @Test func `Presets are applied in their order`() throws {
        let requests = ImgproxyRequests(presets: ["test1=resizing_type:fill", "test2=blur:0.2/quality:50"])
        var expected = VariantOptions()
        (expected.resizingType, expected.blur, expected.quality) = (.fill, 0.2, 50)
        #expect(try requests.options("preset:test1:test2") == expected)
        #expect(try requests.options("pr:test1/pr:test2") == expected)
        expected.quality = 70
        #expect(try requests.options("pr:test1:test2/q:70") == expected)
        #expect(try requests.options("q:70/pr:test1:test2").quality == 50)
        #expect(requests.error("pr:nope")?.status == 400)
    }

    @Test func `The default preset comes before the options of the path`() throws {
        var requests = ImgproxyRequests(presets: ["default=resizing_type:fill/blur:0.2/quality:50"])
        var expected = VariantOptions()
        (expected.resizingType, expected.blur, expected.quality) = (.fill, 0.2, 70)
        #expect(try requests.options("quality:70") == expected)
        requests.defaults.quality = 1
        #expect(try requests.options("").quality == 50)
    }

    @Test func `A preset within itself is left out`() throws {
        let requests = ImgproxyRequests(
            presets: ["test1=resizing_type:fill/preset:test2", "test2=blur:0.2/preset:test1", "self=w:5/pr:self"]
        )
        var expected = VariantOptions()
        (expected.resizingType, expected.blur) = (.fill, 0.2)
        #expect(try requests.options("preset:test1") == expected)
        #expect(try requests.options("preset:test1:test2:test1") == expected)
        #expect(try requests.options("pr:self").width == .pixels(5))
    }

    @Test func `With only presets, the path has names`() throws {
        var requests = ImgproxyRequests(presets: ["test1=blur:0.2", "test2=quality:50"])
        requests.configuration.onlyPresets = true
        let origin = "http://images.dev/lorem/ipsum.jpg?param=value"
        for source in ["plain/\(ImgproxyRequests.source)@png", "\(ImgproxyRequests.base64(origin)).png"] {
            let request = try requests.request("test1:test2/\(source)")
            #expect(request.options.blur == 0.2)
            #expect(request.options.quality == 50)
            #expect(request.options.format == .png)
            #expect([ImgproxyRequests.source, origin].contains(request.source))
        }
        for path in ["w:100/plain/http://a", "test1", "test1/", "nope/plain/http://a", "plain/http://a"] {
            #expect(throws: ServerError.self) { try requests.request(path) }
        }
    }

    @Test func `Presets that multiply are limited`() throws {
        var texts = ["p0=w:1"]
        for level in 1...20 { texts.append("p\(level)=pr:p\(level - 1):p\(level - 1)") }
        let grammar = { try ImgproxyGrammar(ImgproxyRequests(presets: texts).configuration) }
        #expect(throws: GrammarConfigurationError.self) { _ = try grammar() }
        texts = Array(texts.prefix(10))
        #expect(throws: Never.self) { _ = try grammar() }
        let path = "/_/" + String(repeating: "pr:p9/", count: 1_000) + "plain/http://a"
        #expect(throws: ServerError.self) { try grammar().request(forPath: path) }
    }
}
