import Testing
import WebImage

@testable import WebImageServer

@Suite struct ThumborGrammarTests {
    private let source = "https://images.dev/lorem/ipsum.jpg"

    private func grammar(_ change: (inout ThumborGrammar.Configuration) -> Void = { _ in }) -> ThumborGrammar {
        var configuration = ThumborGrammar.Configuration()
        configuration.allowsUnsafe = true
        change(&configuration)
        return ThumborGrammar(configuration)
    }

    private func options(_ path: String) throws -> VariantOptions {
        let request = try grammar().request(forPath: "/unsafe/" + (path.isEmpty ? "" : path + "/") + source)
        #expect(request.source == source, "\(path)")
        return request.options
    }

    private func status(_ path: String) -> Int? {
        do {
            _ = try options(path)
            return nil
        } catch {
            return (error as? ServerError)?.status
        }
    }

    private func expect(
        _ paths: String...,
        location: SourceLocation = #_sourceLocation,
        _ change: (inout VariantOptions) -> Void
    ) throws {
        var expected = VariantOptions()
        (expected.resizingType, expected.enlarge) = (.fill, true)
        change(&expected)
        for path in paths { #expect(try options(path) == expected, "\(path)", sourceLocation: location) }
    }

    /// Signatures that thumbor's documentation of client libraries and the tests of its Python library publish, for the key
    /// `my-security-key`.
    @Test(arguments: [
        ("8ammJH8D-7tXy6kU3lTvoXlhu4o=", "300x200"), ("B35oBEIwztbc3jm7vsdqLez2C78=", "10x10:200x200/300x200"),
        ("as8U2DbUUtTMgvPF26LkjS3MocY=", "10x10:200x200/300x200/filters:brightness(20):contrast(10)"),
        ("-2NHpejRK2CyPAm61FigfQgJBxw=", "smart"), ("uvLnA6TJlF-Cc-L8z9pEtfasO3s=", "fit-in"),
        ("ZZtPCw-BLYN1g42Kh8xTcRs0Qls=", "filters:brightness(10):contrast(20)"),
    ])
    func `Published signatures are accepted`(_ signature: String, _ options: String) throws {
        let image = "my.server.com/some/path/to/image.jpg"
        let signing = grammar {
            $0.allowsUnsafe = false
            $0.keys = [Array("other".utf8), Array("my-security-key".utf8)]
        }
        #expect(try signing.request(forPath: "/\(signature)/\(options)/\(image)").source == "http://" + image)
        // Clients and proxies encode the padding, or leave it out.
        let encoded = signature.dropLast() + "%3D"
        #expect(try signing.request(forPath: "/\(encoded)/\(options)/\(image)?x").source == "http://" + image)
        #expect(
            try signing.request(forPath: "/\(signature.dropLast())/\(options)/\(image)").source == "http://" + image
        )
        for path in [
            "/\(signature)/\(options)/\(image)x", "/\(signature.dropFirst())/\(options)/\(image)",
            "/unsafe/\(options)/\(image)", "/unsafe=/\(image)", "/\(options)/\(image)",
        ] {
            let error = #expect(throws: ServerError.self) { try signing.request(forPath: path) }
            #expect(error?.status == 403)
        }
    }

    @Test func `The metadata and debug endpoints are refused by name`() {
        let signing = grammar { $0.keys = [Array("my-security-key".utf8)] }
        let path = "/Ps3ORJDqxlSQ8y00T29GdNAh2CY=/meta/my.server.com/some/path/to/image.jpg"
        #expect(throws: ServerError.unsupportedOption("meta")) { try signing.request(forPath: path) }
        #expect(throws: ServerError.unsupportedOption("debug")) { try options("debug/300x200") }
    }

    @Test func `Sizes`() throws {
        try expect("") { _ in }
        try expect("300x200") { ($0.width, $0.height) = (.pixels(300), .pixels(200)) }
        try expect("300x", "300x0") { $0.width = .pixels(300) }
        try expect("x200", "0x200") { $0.height = .pixels(200) }
        try expect("0x0", "x") { _ in }
        try expect("origx100") { ($0.width, $0.height) = (.original, .pixels(100)) }
        try expect("-300x-orig") {
            ($0.width, $0.height, $0.flipHorizontal, $0.flipVertical) = (.pixels(300), .original, true, true)
        }
        try expect("-0x-0", "-x-") { ($0.flipHorizontal, $0.flipVertical) = (true, true) }
    }

    @Test func `Fitting`() throws {
        try expect("fit-in/300x200") {
            ($0.resizingType, $0.enlarge, $0.width, $0.height) = (.fit, false, .pixels(300), .pixels(200))
        }
        try expect("full-fit-in/300x200") {
            ($0.resizingType, $0.width, $0.height) = (.cover, .pixels(300), .pixels(200))
        }
        try expect("adaptive-fit-in/300x") {
            ($0.resizingType, $0.enlarge, $0.width, $0.isAdaptive) = (.fit, false, .pixels(300), true)
        }
        try expect("adaptive-full-fit-in/300x") {
            ($0.resizingType, $0.width, $0.isAdaptive) = (.cover, .pixels(300), true)
        }
    }

    @Test func `Alignment`() throws {
        try expect("left", "left/middle") { $0.gravity = VariantGravity(.west) }
        try expect("right/top") { $0.gravity = VariantGravity(.northEast) }
        try expect("bottom", "center/bottom") { $0.gravity = VariantGravity(.south) }
        try expect("left/top/smart", "smart") { $0.gravity = VariantGravity(.smart) }
        // thumbor crops before it mirrors.
        try expect("-0x0/left/top") { ($0.gravity, $0.flipHorizontal) = (VariantGravity(.northEast), true) }
        try expect("0x-0/left/top") { ($0.gravity, $0.flipVertical) = (VariantGravity(.southWest), true) }
    }

    @Test func `Crop and trim`() throws {
        try expect("10x20:110x220") {
            ($0.crop.width, $0.crop.height) = (100, 200)
            $0.crop.gravity = VariantGravity(.northWest, xOffset: 10, yOffset: 20)
        }
        try expect("10x20:110x220/-0x0") {
            ($0.crop.width, $0.crop.height, $0.flipHorizontal) = (100, 200, true)
            $0.crop.gravity = VariantGravity(.northEast, xOffset: 10, yOffset: 20)
        }
        try expect("0x0:0x0", "50x50:10x10") { _ in }
        try expect("trim", "trim:top-left") { ($0.trim.threshold, $0.trim.usesDistance) = (0, true) }
        try expect("trim:bottom-right:30") {
            ($0.trim.threshold, $0.trim.color, $0.trim.usesDistance) = (30, .bottomRight, true)
        }
        try expect("trim:30") { ($0.trim.threshold, $0.trim.usesDistance) = (30, true) }
        #expect(status("trim:99999999999") == 400)
    }

    @Test func `All options in their order`() throws {
        let path = "trim/300x200:400x500/adaptive-full-fit-in/-300x-400/left/top/smart/filters:brightness(100)"
        try expect(path) {
            ($0.trim.threshold, $0.trim.usesDistance) = (0, true)
            ($0.crop.width, $0.crop.height) = (100, 300)
            $0.crop.gravity = VariantGravity(.southEast, xOffset: 300, yOffset: 200)
            ($0.resizingType, $0.isAdaptive) = (.cover, true)
            ($0.width, $0.height, $0.flipHorizontal, $0.flipVertical) = (.pixels(300), .pixels(400), true, true)
            $0.gravity = VariantGravity(.smart)
            $0.colorEffects = [.brightness(1)]
        }
    }

    @Test func `What is no option in its place begins the source`() throws {
        for path in [
            "smart/300x200/a.jpg", "300x200x1/a.jpg", "fit-in-x/a.jpg", "trim:left/a.jpg",
            "filters:)/a.jpg", "filters:blur(1)/", "middle/left/a.jpg", "300x200", "1x2:3/a.jpg",
        ] {
            let request = try grammar().request(forPath: "/unsafe/" + path)
            #expect(path.hasSuffix(request.source.dropFirst(7)), "\(request.source)")
            #expect(request.options.colorEffects.isEmpty)
        }
        #expect(try grammar().request(forPath: "/unsafe/smart/300x200/a.jpg").source == "http://300x200/a.jpg")
    }

    @Test func `Sources`() throws {
        let source = { (path: String) in try grammar().request(forPath: "/unsafe/" + path).source }
        #expect(try source("https%3A%2F%2Fa.test%2Fb%20c.jpg%3Fd") == "https://a.test/b c.jpg?d")
        #expect(try source("https:/a.test/b.jpg") == "https://a.test/b.jpg")
        #expect(try source("http://a.test/b.jpg") == "http://a.test/b.jpg")
        #expect(try source("a.test/b.jpg?c") == "http://a.test/b.jpg")
        for path in ["/unsafe", "/unsafe/", "/", "", "/unsafe/%", "/unsafe/%0A", "/unsafe/%ff"] {
            let error = #expect(throws: ServerError.self) { try grammar().request(forPath: path) }
            #expect(error?.status == 400)
        }
        let limited = grammar { ($0.allowedSources, $0.pathPrefix) = (["https://a.test/"], "/t") }
        #expect(try limited.request(forPath: "/t/unsafe/https://a.test/b").source == "https://a.test/b")
        #expect(throws: ServerError.forbiddenSource) { try limited.request(forPath: "/t/unsafe/https://a.testx/b") }
        #expect(throws: ServerError.notFound) { try limited.request(forPath: "/unsafe/https://a.test/b") }
    }
}
