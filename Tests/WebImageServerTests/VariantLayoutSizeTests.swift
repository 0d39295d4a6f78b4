import TestSupport
import Testing

@testable import WebImageServer

/// The sizes of results: those of imgproxy's own tests for a source of 200 by 100 pixels, and of its documentation.
@Suite struct VariantLayoutSizeTests {
    static func layout(_ path: String, _ width: Int = 200, _ height: Int = 100) throws -> VariantLayout {
        var requests = ImgproxyRequests()
        requests.configuration.allowsLimits = true
        return try VariantLayout(requests.options(path), source: VariantLayout.Source(PixelSize(width, height)))
    }

    private static let sides = [
        "50:50", "50:20", "20:50", "300:300", "300:50", "100:300", "0:50", "50:0", "0:200", "300:0", "300:125",
        "250:300",
        "250:500",
    ]

    /// The result of each of ``sides``, for types and options.
    @Test(arguments: [
        (
            "fit", "",
            "50x25 40x20 20x10 200x100 100x50 100x50 100x50 50x25 200x100 200x100 200x100 200x100 200x100"
        ),
        (
            "fit", "/el:1",
            "50x25 40x20 20x10 300x150 100x50 100x50 100x50 50x25 400x200 300x150 250x125 250x125 250x125"
        ),
        (
            "fit", "/ex:1",
            "50x50 50x20 20x50 300x300 300x50 100x300 100x50 50x25 200x200 300x100 300x125 250x300 250x500"
        ),
        (
            "fit", "/exar:1",
            "50x50 50x20 20x50 200x200 300x50 100x300 100x50 50x25 200x100 200x100 240x100 200x240 200x400"
        ),
        (
            "fill", "",
            "50x50 50x20 20x50 200x100 200x50 100x100 100x50 50x25 200x100 200x100 200x100 200x100 200x100"
        ),
        (
            "fill", "/el:1",
            "50x50 50x20 20x50 300x300 300x50 100x300 100x50 50x25 400x200 300x150 300x125 250x300 250x500"
        ),
        (
            "fill", "/ex:1",
            "50x50 50x20 20x50 300x300 300x50 100x300 100x50 50x25 200x200 300x100 300x125 250x300 250x500"
        ),
        (
            "fill-down", "",
            "50x50 50x20 20x50 100x100 200x33 33x100 100x50 50x25 200x100 200x100 200x83 83x100 50x100"
        ),
        (
            "fill-down", "/el:1",
            "50x50 50x20 20x50 300x300 300x50 100x300 100x50 50x25 400x200 300x150 300x125 250x300 250x500"
        ),
        (
            "force", "/el:1",
            "50x50 50x20 20x50 300x300 300x50 100x300 200x50 50x100 200x200 300x100 300x125 250x300 250x500"
        ),
        (
            "auto", "/el:1",
            "50x50 50x20 20x10 300x300 300x50 100x50 100x50 50x25 400x200 300x150 300x125 250x125 250x125"
        ),
    ])
    func `Each resizing type makes its sizes`(_ type: String, _ options: String, _ sizes: String) throws {
        for (sides, expected) in zip(Self.sides, sizes.split(separator: " ")) {
            let size = try Self.layout("rs:\(type):\(sides)\(options)").size
            #expect("\(size.width)x\(size.height)" == expected, "\(type):\(sides)\(options)")
        }
    }

    @Test(arguments: [
        ("z:0.5", 100, 50), ("z:0.5:2/el:1", 100, 200), ("w:100/z:0.5", 50, 25), ("rs:fill:50:50/z:2", 100, 100),
        ("w:50/dpr:2", 100, 50), ("w:100/dpr:4", 200, 100), ("w:100/dpr:4/el:1", 400, 200), ("dpr:0.5", 100, 50),
        ("dpr:0.5/el:1", 100, 50), ("w:300/dpr:0.5", 150, 75), ("w:300/dpr:0.5/ex:1", 150, 50),
        ("w:50/mw:100", 50, 50), ("w:50/h:50/mh:50", 50, 50), ("mw:300", 300, 150), ("mh:300", 600, 300),
        ("c:50:50", 50, 50), ("c:0.5", 100, 100), ("c:0:0.25", 200, 25), ("c:1000:50", 200, 50),
        ("c:50:50/w:20", 20, 20),
        ("rot:90", 100, 200), ("rot:90/w:50", 50, 100), ("rot:180/w:50", 50, 25), ("rot:270/c:20:40", 20, 40),
        ("pd:10", 220, 120), ("pd:1:2:3:4", 206, 104), ("w:100/pd:5/dpr:2", 220, 120),
        ("rs:fill:50:50/pd:10:0", 50, 70),
        ("w:100/mrd:50", 50, 25), ("rs:fill:100:100/pd:50/mrd:100", 50 + 50, 50 + 50), ("mrd:100", 100, 50),
        ("rs:fit:300:300/ex:1/mrd:100", 100, 100), ("w:1", 1, 1), ("h:1", 2, 1), ("c:0.0001:0.0001", 1, 1),
    ])
    func `Other options change the size`(_ path: String, _ width: Int, _ height: Int) throws {
        #expect(try Self.layout(path).size == PixelSize(width, height))
    }

    /// `docs.imgproxy.net`: padding of 10 around 100 by 200 makes 120 by 220.
    @Test func `Padding enlarges the result`() throws {
        let layout = try Self.layout("rs:fill:100:200/pd:10", 1000, 1000)
        #expect(layout.size == PixelSize(120, 220))
        #expect(layout.canvases == [VariantLayout.Canvas(size: PixelSize(120, 220), x: 10, y: 10, background: nil)])
    }

    @Test func `A vector image is always enlarged`() throws {
        let options = try ImgproxyRequests().options("w:400")
        let source = VariantLayout.Source(PixelSize(200, 100), isVector: true)
        let layout = try VariantLayout(options, source: source)
        #expect(layout.size == PixelSize(400, 200))
        #expect(layout.decodeSize == PixelSize(400, 200))
    }

    @Test(arguments: [
        "w:20000/el:1", "w:100/dpr:1000/el:1", "z:1000/el:1", "mw:2000000000", "pd:20000", "ex:1/w:16000/h:16000",
    ])
    func `A result above the limits is an error`(_ path: String) {
        let error = #expect(throws: ServerError.self) { try Self.layout(path) }
        #expect(error?.status == 422)
    }

    @Test func `A result is as large as its source, whatever that is`() throws {
        #expect(try Self.layout("rot:90", 60_000, 20).size == PixelSize(20, 60_000))
        #expect(throws: ServerError.self) { try Self.layout("pd:1", 60_000, 20) }
    }

    /// thumbor's documentation, for sources of 800 by 600 and 400 by 600 pixels.
    @Test(arguments: [
        ("300x200", 800, 600, 300, 200), ("fit-in/300x200", 800, 600, 267, 200), ("fit-in/300x200", 400, 600, 133, 200),
        ("full-fit-in/300x200", 800, 600, 300, 225), ("full-fit-in/300x200", 400, 600, 300, 450),
        ("400x0", 800, 600, 400, 300),
        ("0x0", 800, 600, 800, 600), ("300xorig", 800, 600, 300, 600), ("origx300", 800, 600, 800, 300),
        ("origxorig", 800, 600, 800, 600), ("1600x0", 800, 600, 1600, 1200), ("fit-in/1600x0", 800, 600, 800, 600),
        ("adaptive-fit-in/300x200", 400, 600, 200, 300), ("adaptive-fit-in/300x200", 800, 600, 267, 200),
        ("10x20:110x220", 800, 600, 100, 200), ("300x200/filters:rotate(90)", 800, 600, 200, 300),
        ("fit-in/300x300/filters:fill(red)", 800, 600, 300, 300), ("1600x0/filters:no_upscale()", 800, 600, 800, 600),
        ("400x0/filters:proportion(0.5)", 800, 600, 200, 150), ("300x500/filters:stretch()", 800, 600, 300, 500),
    ])
    func `thumbor's sizes`(_ path: String, _ width: Int, _ height: Int, _ resultWidth: Int, _ resultHeight: Int) throws
    {
        var configuration = ThumborGrammar.Configuration()
        configuration.allowsUnsafe = true
        let request = try ThumborGrammar(configuration).request(forPath: "/unsafe/\(path)/http://a.test/b.jpg")
        let layout = try VariantLayout(request.options, source: VariantLayout.Source(PixelSize(width, height)))
        #expect(layout.size == PixelSize(resultWidth, resultHeight))
    }

    @Test func `Random options make consistent layouts`() throws {
        var generator = SeededGenerator(seed: 34)
        func side() -> Int { Int.random(in: 1...(Bool.random(using: &generator) ? 20 : 5_000), using: &generator) }
        func factor() -> Double { pow(generator) }
        func pow(_ unused: SeededGenerator) -> Double {
            Double(Int.random(in: 1...400, using: &generator)) / (Bool.random(using: &generator) ? 100 : 10_000)
        }
        var count = 0
        for _ in 0..<TestEffort.rounds(50_000) {
            var options = VariantOptions()
            options.resizingType = VariantResizingType.allCases.randomElement(using: &generator)!
            if Bool.random(using: &generator) { options.width = .pixels(side()) }
            if Bool.random(using: &generator) { options.height = .pixels(side()) }
            if Bool.random(using: &generator) { options.crop.width = factor() * 100 }
            if Bool.random(using: &generator) { options.crop.height = factor() }
            if Bool.random(using: &generator) { options.minWidth = side() }
            options.enlarge = Bool.random(using: &generator)
            options.isAdaptive = Bool.random(using: &generator)
            options.extend.isEnabled = Bool.random(using: &generator)
            options.extendAspectRatio.isEnabled = Bool.random(using: &generator)
            options.dpr = factor()
            options.zoomWidth = factor()
            options.rotate = [0, 90, 180, 270].randomElement(using: &generator)!
            options.flipHorizontal = Bool.random(using: &generator)
            options.gravity = VariantGravity(
                VariantGravity.Kind.allCases.randomElement(using: &generator)!,
                xOffset: factor(),
                yOffset: factor()
            )
            options.padding.left = Int.random(in: 0...20, using: &generator)
            if Bool.random(using: &generator) { options.limits.resultSide = side() }
            let source = PixelSize(side(), side())
            guard let layout = try? VariantLayout(options, source: VariantLayout.Source(source)) else { continue }
            count += 1
            var image = layout.crop.size(in: source)
            if case .region(let region) = layout.crop { try Self.expectWithin(region, source) }
            #expect(layout.decodeSize.width <= source.width && layout.decodeSize.height <= source.height)
            #expect(layout.decodeSize.width >= 1 && layout.decodeSize.height >= 1)
            image = layout.orientation.size(of: layout.scaled)
            if case .region(let region) = layout.resultCrop { try Self.expectWithin(region, image) }
            image = layout.resultCrop.size(in: image)
            for canvas in layout.canvases {
                try Self.expectWithin(
                    PixelRegion(x: canvas.x, y: canvas.y, width: image.width, height: image.height),
                    canvas.size
                )
                image = canvas.size
            }
            #expect(layout.size == image)
        }
        #expect(count > TestEffort.rounds(10_000))
    }

    private static func expectWithin(_ region: PixelRegion, _ image: PixelSize) throws {
        try #require(region.x >= 0 && region.y >= 0 && region.size.width >= 1 && region.size.height >= 1)
        try #require(region.x + region.size.width <= image.width && region.y + region.size.height <= image.height)
    }
}
