import Testing
import WebImage

@testable import WebImageServer

@Suite struct ThumborFilterTests {
    private func request(_ filters: String, before: String = "") throws -> VariantRequest {
        var configuration = ThumborGrammar.Configuration()
        configuration.allowsUnsafe = true
        return try ThumborGrammar(configuration).request(
            forPath: "/unsafe/\(before)filters:\(filters)/http://a.test/b.jpg"
        )
    }

    private func expect(
        _ filters: String...,
        location: SourceLocation = #_sourceLocation,
        _ change: (inout VariantOptions) -> Void
    ) throws {
        var expected = VariantOptions()
        (expected.resizingType, expected.enlarge) = (.fill, true)
        change(&expected)
        for text in filters {
            let request = try request(text)
            #expect(request.options == expected, "\(text)", sourceLocation: location)
            #expect(request.source == "http://a.test/b.jpg", sourceLocation: location)
        }
    }

    @Test func `Encoding`() throws {
        try expect("quality(40)", "quality( 40 )") { $0.quality = 40 }
        try expect("quality(400)") { $0.quality = 100 }
        try expect("format(webp)", "format(WEBP)", "format('webp')") { $0.format = .webp }
        try expect("format(heif)") { $0.format = .heic }
        try expect("max_bytes(7500):strip_exif():strip_icc()") {
            ($0.maxBytes, $0.stripMetadata, $0.stripColorProfile) = (7500, true, true)
        }
        try expect("max_age(60)") { $0.maxAge = 60 }
    }

    @Test func `Geometry`() throws {
        try expect("no_upscale()") { $0.enlarge = false }
        try expect("stretch()") { $0.resizingType = .force }
        try expect("proportion(0.5)") { ($0.zoomWidth, $0.zoomHeight) = (0.5, 0.5) }
        try expect("focal(10x20:110x220)") {
            $0.focalRegion = VariantRegion(left: 10, top: 20, right: 110, bottom: 220)
        }
        try expect("focal(1x2:1x5)", "rotate(0)", "rotate(360)", "rotate(90):rotate(270)") { _ in }
        try expect("rotate(90)", "rotate(-270)") { $0.resultRotation = 270 }
        try expect("rotate(270)") { $0.resultRotation = 90 }
        #expect(try request("upscale()", before: "fit-in/9x9/").options.enlarge)
        #expect(try request("stretch()", before: "fit-in/9x9/").options.resizingType == .fit)
    }

    @Test func `Effects`() throws {
        try expect("blur(7)", "blur(7,0)") { $0.blur = 7 }
        try expect("blur(7,2.5)", "blur(7, 2.5)") { $0.blur = 2.5 }
        try expect("sharpen(2,1.5,true)") { $0.sharpen = 1.5 }
        try expect("sharpen(0,1,true)") { _ in }
        try expect("brightness(40):contrast(-50):saturation(0.5):grayscale()") {
            $0.colorEffects = [.brightness(0.4), .contrast(0.25), .saturation(0.5), .grayscale]
        }
    }

    @Test func `Fill and background`() throws {
        try expect("fill(f00)", "fill(red)", "fill(ff0000)") {
            $0.extend.isEnabled = true
            $0.extend.background = .color(ImageColor(red8: 255, green8: 0, blue8: 0))
        }
        try expect("fill(blue,1)", "fill(blue,true)") {
            $0.extend.isEnabled = true
            $0.background = .color(ImageColor(red8: 0, green8: 0, blue8: 255))
            $0.extend.background = $0.background
        }
        try expect("fill(auto)") { ($0.extend.isEnabled, $0.extend.background) = (true, .meanColor) }
        try expect("fill(blur)") { ($0.extend.isEnabled, $0.extend.background) = (true, .blurredImage) }
        try expect("fill(transparent)") { $0.extend.isEnabled = true }
        try expect("background_color(add8e6)", "background_color(lightblue)") {
            $0.background = .color(ImageColor(red8: 0xAD, green8: 0xD8, blue8: 0xE6))
        }
    }

    @Test func `Watermark`() throws {
        try expect(
            "watermark(http://my.site/img.png,-10,10p,50)",
            "watermark(http%3A%2F%2Fmy.site%2Fimg.png, -10, 10p, 50)"
        ) {
            $0.watermark.source = "http://my.site/img.png"
            $0.watermark.opacity = 0.5
            $0.watermark.position = .axes(x: .pixels(10, fromEnd: true), y: .part(0.1, fromEnd: false))
        }
        try expect("watermark('a,b',center,repeat,0,20,none)") {
            $0.watermark.source = "a,b"
            $0.watermark.opacity = 1
            $0.watermark.position = .axes(x: .center, y: .repeated)
            $0.watermark.widthScale = 0.2
        }
        try expect("watermark(a,-0,0,0,none,30)") {
            $0.watermark.source = "a"
            $0.watermark.opacity = 1
            $0.watermark.position = .axes(x: .pixels(0, fromEnd: true), y: .pixels(0, fromEnd: false))
            $0.watermark.heightScale = 0.3
        }
    }

    @Test(arguments: [
        "quality()", "quality(x)", "quality(-1)", "quality(1,2)", "format(bmp)", "proportion(0)", "proportion(2)",
        "focal(1x2)", "rotate(45)", "blur(0)", "blur()", "sharpen(1)", "brightness(101)", "contrast(x)",
        "saturation(nan)",
        "grayscale(1)", "fill()", "fill(#fff)", "fill(nope)", "watermark(a,b,c,d)", "watermark(a,1,1,101)",
        "watermark(a,1,1)",
        "quality", "(1)", "quality(40:blur(1)", "nope()", "upscale(1)", "%(1)",
    ])
    func `Invalid filters are errors`(_ filters: String) {
        let error = #expect(throws: ServerError.self) { try request(filters.hasSuffix(")") ? filters : filters + ")") }
        #expect(error?.status == 400)
    }

    @Test func `Filters that this server does not implement are refused by name`() {
        for name in ThumborFilter.unsupported {
            let error = #expect(throws: ServerError.self) { try request("\(name)(1,2)") }
            #expect(error == .unsupportedOption(name))
        }
        #expect(throws: ServerError.unsupportedOption("noise")) { try request("quality(40):noise(40)") }
    }
}
