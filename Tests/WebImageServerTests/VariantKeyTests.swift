import Testing
import WebImage

@testable import WebImageServer

@Suite struct VariantKeyTests {
    @Test func `A source is decoded whole if parts of it are named in its pixels`() throws {
        func decodeSize(_ change: (inout VariantOptions) -> Void) throws -> ImageSize? {
            var options = VariantOptions()
            (options.width, options.height, options.resizingType) = (.pixels(40), .pixels(40), .fill)
            change(&options)
            let request = VariantRequest(source: "http://a.example/a.jpg", options: options)
            return try VariantPlan(request, accepted: [], quality: 80).context.thumbnailPixelSize
        }
        #expect(try decodeSize { _ in } == ImageSize(width: 40, height: 40))
        #expect(try decodeSize { $0.focalRegion = VariantRegion(left: 600, top: 0, right: 700, bottom: 90) } == nil)
        #expect(try decodeSize { $0.crop.width = 300 } == nil)
        #expect(try decodeSize { $0.trim.threshold = 10 } == nil)
    }

    private static let paths = [
        "", "rt:fill", "rt:force", "w:1", "h:1", "w:2", "mw:1", "mh:1", "z:2", "z:1:2", "z:2:1", "dpr:2", "el:1",
        "ex:1", "ex:1:no",
        "exar:1", "exar:1:no", "g:no", "g:no:1", "g:no:0:1", "g:sm", "c:1", "c:0:1", "c:1:1", "c:1:1:no", "c:1:1:ce",
        "t:1", "t:2",
        "t:1:fff", "t:1:fff:1", "t:1:fff:0:1", "pd:1", "pd:1:0", "pd:0:1", "ar:0", "ar:1", "rot:90", "fl:1", "fl:0:1",
        "bg:fff",
        "bg:ffe", "bl:1", "sh:1", "pix:2", "wm:1", "wm:0.5", "wm:1:no", "wm:1:re", "wm:1:no:1", "wm:1:no:0:1",
        "wm:1:no:0:0:1",
        "mrd:9", "eth:1", "ph:1",
    ]
    private static let encodings = [
        "f:png", "f:webp", "q:1", "q:2", "fq:jpg:1", "fq:jpg:1:png:2", "mb:5", "sm:1", "sm:0", "kcr:1", "scp:1",
        "skp:jpg",
        "skp:jpg:png", "raw:1", "cb:a", "cb:b", "maf:3", "msr:1", "msfs:1", "mafr:1",
    ]

    private func options(_ path: String) throws -> VariantOptions {
        var requests = ImgproxyRequests()
        requests.configuration.allowsLimits = true
        return try requests.options(path)
    }

    @Test func `Options that make other pixels have another key`() throws {
        let keys = try Self.paths.map { try options($0).pixelKey }
        #expect(Set(keys).count == keys.count)
        for path in Self.encodings { #expect(try options(path).pixelKey == "", "\(path)") }
        let results = try (Self.paths + Self.encodings).map { try options($0).resultKey }
        #expect(Set(results).count == results.count)
    }

    @Test func `The order in the URL does not count, nor what makes no difference`() throws {
        let key = try options("w:1/h:2/fq:png:1:jpg:2/skp:png:jpg/bl:1").resultKey
        #expect(try options("bl:1/skp:jpg:png/fq:jpg:2:png:1/h:2/w:1").resultKey == key)
        #expect(try options("exp:99999999999/fn:a/att:1/ex:0:no/wm:0:no/pix:1/q:0").resultKey == "")
        #expect(try options("w:1/bl:0.5/q:80").resultKey == "w:1/bl:0.5/q:80")
    }

    @Test func `thumbor's options have keys`() throws {
        var configuration = ThumborGrammar.Configuration()
        configuration.allowsUnsafe = true
        let paths = [
            "", "fit-in/", "full-fit-in/", "adaptive-fit-in/", "origx/", "xorig/", "trim/", "trim:bottom-right/",
            "smart/",
            "filters:fill(f00)/", "filters:fill(f00,1)/", "filters:fill(auto)/", "filters:fill(blur)/",
            "filters:focal(1x1:2x2)/",
            "filters:rotate(90)/", "filters:rotate(180)/", "filters:grayscale()/", "filters:brightness(1)/",
            "filters:contrast(1)/", "filters:saturation(1)/", "filters:brightness(1):contrast(1)/",
            "filters:contrast(1):brightness(1)/", "filters:watermark(a,1,1,0)/", "filters:watermark(b,1,1,0)/",
            "filters:watermark(a,-1,1,0)/", "filters:watermark(a,1p,1,0)/", "filters:watermark(a,center,1,0)/",
            "filters:watermark(a,repeat,1,0)/", "filters:watermark(a,1,1,5)/", "filters:watermark(a,1,1,0,5)/",
        ]
        let keys = try paths.map { path in
            try ThumborGrammar(configuration).request(forPath: "/unsafe/\(path)http://a.test/b.jpg").options.pixelKey
        }
        #expect(Set(keys).count == keys.count)
    }
}
