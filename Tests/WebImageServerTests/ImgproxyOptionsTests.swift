import Testing
import WebImage

@testable import WebImageServer

/// What each option means: the facts of imgproxy's own tests and documentation.
@Suite struct ImgproxyOptionsTests {
    private let requests = ImgproxyRequests()

    private func expect(
        _ paths: String...,
        location: SourceLocation = #_sourceLocation,
        _ change: (inout VariantOptions) -> Void
    ) throws {
        var expected = VariantOptions()
        change(&expected)
        for path in paths { #expect(try requests.options(path) == expected, "\(path)", sourceLocation: location) }
    }

    @Test func `The list has all names of open-source imgproxy`() {
        #expect(ImgproxyOption.allCases.count == 45)
        #expect(ImgproxyOption.shortNames.count == 45)
        #expect(Set(ImgproxyOption.shortNames.keys).isDisjoint(with: ImgproxyOption.allCases.map(\.rawValue)))
        for name in ImgproxyOption.namesOfPro { #expect(ImgproxyOption(name: name) == nil, "\(name)") }
        // These have no short name.
        let named = Set(ImgproxyOption.shortNames.values)
        #expect(Set(ImgproxyOption.allCases).subtracting(named) == [.dpr, .raw])
    }

    @Test func `Sizes`() throws {
        try expect("resize:fill:100:200:1", "rs:fill:100:200:t", "rt:fill/s:100:200:true", "rt:fill/w:100/h:200/el:1") {
            ($0.resizingType, $0.width, $0.height, $0.enlarge) = (.fill, .pixels(100), .pixels(200), true)
        }
        try expect("size:100:200:1", "s:100:200:1") {
            ($0.width, $0.height, $0.enlarge) = (.pixels(100), .pixels(200), true)
        }
        try expect("resizing_type:fill-down", "rt:fill-down") { $0.resizingType = .fillDown }
        try expect("rs:force", "rt:force") { $0.resizingType = .force }
        try expect("rs:auto::5", "rt:auto/height:5") { ($0.resizingType, $0.height) = (.auto, .pixels(5)) }
        try expect("width:100", "w:100", "s:100", "s:100:", "rs::100") { $0.width = .pixels(100) }
        try expect("w:0", "s:0:0", "rs::::", "s:", "w:100/w:0", "") { _ in }
        try expect("min-width:5/min-height:6", "mw:5/mh:6") { ($0.minWidth, $0.minHeight) = (5, 6) }
        try expect("zoom:0.5", "z:.5") { ($0.zoomWidth, $0.zoomHeight) = (0.5, 0.5) }
        try expect("z:0.5:2") { ($0.zoomWidth, $0.zoomHeight) = (0.5, 2) }
        try expect("dpr:2", "dpr:2.0") { $0.dpr = 2 }
        try expect("enlarge:1", "el:T", "el:TRUE") { $0.enlarge = true }
        try expect("el:0", "el:yes", "el:", "el:1/el:f") { _ in }
    }

    @Test func `Extensions`() throws {
        try expect("extend:1:so:10:20", "ex:1:so:10:20", "s::::1:so:10:20", "rs:::::1:so:10:20") {
            $0.extend.isEnabled = true
            $0.extend.gravity = VariantGravity(.south, xOffset: 10, yOffset: 20)
        }
        try expect("extend_aspect_ratio:1:fp:0.1:0.2", "extend_ar:1:fp:0.1:0.2", "exar:1:fp:.1:.2") {
            $0.extendAspectRatio.isEnabled = true
            $0.extendAspectRatio.gravity = VariantGravity(.focusPoint, xOffset: 0.1, yOffset: 0.2)
        }
        #expect(requests.error("extend:1:sm")?.status == 400)
        #expect(requests.error("extend:1:re")?.status == 400)
        #expect(requests.error("extend:1:no:1:2:3")?.status == 400)
    }

    @Test func `Gravity`() throws {
        try expect("gravity:soea", "g:soea") { $0.gravity = VariantGravity(.southEast) }
        try expect("g:fp:0.5:0.75") { $0.gravity = VariantGravity(.focusPoint, xOffset: 0.5, yOffset: 0.75) }
        try expect("g:no::-3.5") { $0.gravity = VariantGravity(.north, yOffset: -3.5) }
        // Offsets stay until others are given, except with smart gravity.
        try expect("g:no:1:2/g:so") { $0.gravity = VariantGravity(.south, xOffset: 1, yOffset: 2) }
        try expect("g:no:1:2/g:sm") { $0.gravity = VariantGravity(.smart) }
        for kind in VariantGravity.Kind.allCases where kind != .focusPoint {
            try expect("g:\(kind.rawValue)") { $0.gravity.kind = kind }
        }
        for path in [
            "g:re", "g:", "g:center", "g:fp", "g:fp:0.5", "g:fp:2:0", "g:fp:0:-0.1", "g:sm:1", "g:no:x", "g:no:1:2:3",
        ] {
            #expect(requests.error(path)?.status == 400, "\(path)")
        }
        #expect(requests.error("g:obj:face") == .unsupportedOption("gravity.obj"))
        #expect(requests.error("c:1:1:objw:face:2") == .unsupportedOption("gravity.objw"))
    }

    @Test func `Crop`() throws {
        try expect("crop:100:200", "c:100:200") { ($0.crop.width, $0.crop.height) = (100, 200) }
        try expect("c:0.5") { $0.crop.width = 0.5 }
        try expect("c:100:200:nowe:10:20") {
            ($0.crop.width, $0.crop.height) = (100, 200)
            $0.crop.gravity = VariantGravity(.northWest, xOffset: 10, yOffset: 20)
        }
        for path in ["c:-1", "c:1:x", "c:", "c:1:2:re", "c:nan", "c:inf:1"] {
            #expect(requests.error(path)?.status == 400, "\(path)")
        }
    }

    @Test func `Trim and padding`() throws {
        try expect("trim:10", "t:10") { $0.trim.threshold = 10 }
        try expect("t:10:ffffff:1:0", "t:10:fff:1") {
            $0.trim.threshold = 10
            $0.trim.color = .given(.white)
            $0.trim.equalHorizontal = true
        }
        try expect("t:10:fff/t:") { _ in }
        try expect("padding:10", "pd:10", "pd:10:10:10:10") {
            ($0.padding.top, $0.padding.right, $0.padding.bottom, $0.padding.left) = (10, 10, 10, 10)
        }
        try expect("pd:10:20") {
            ($0.padding.top, $0.padding.right, $0.padding.bottom, $0.padding.left) = (10, 20, 10, 20)
        }
        try expect("pd:1:2:3:4") {
            ($0.padding.top, $0.padding.right, $0.padding.bottom, $0.padding.left) = (1, 2, 3, 4)
        }
        try expect("pd::7") { ($0.padding.right, $0.padding.left) = (7, 7) }
        for path in ["t:x", "t:1:red", "t:1:ffff", "t:1:fff:1:1:1", "pd:-1", "pd:1.5", "pd:1:2:3:4:5"] {
            #expect(requests.error(path)?.status == 400, "\(path)")
        }
    }

    @Test func `Orientation`() throws {
        try expect("auto_rotate:1", "ar:1") { $0.autoRotate = true }
        try expect("ar:0") { $0.autoRotate = false }
        try expect("rotate:90", "rot:90", "rot:-270", "rot:450") { $0.rotate = 90 }
        try expect("rot:0", "rot:360") { _ in }
        try expect("flip:1:1", "fl:t:true") { ($0.flipHorizontal, $0.flipVertical) = (true, true) }
        try expect("fl::1", "fl:0:1") { $0.flipVertical = true }
        for path in ["rot:45", "rot:x", "rot:90:1", "rot:9223372036854775808", "fl:1:1:1"] {
            #expect(requests.error(path)?.status == 400, "\(path)")
        }
    }

    @Test func `Colours and effects`() throws {
        try expect("background:128:129:130", "bg:128:129:130", "bg:808182") {
            $0.background = .color(ImageColor(red8: 128, green8: 129, blue8: 130))
        }
        try expect("bg:ffddee") { $0.background = .color(ImageColor(red8: 255, green8: 0xDD, blue8: 0xEE)) }
        try expect("bg:fff/bg:") { _ in }
        try expect("blur:0.2", "bl:0.2") { $0.blur = 0.2 }
        try expect("sharpen:0.2", "sh:0.2") { $0.sharpen = 0.2 }
        try expect("pixelate:3", "pix:3") { $0.pixelate = 3 }
        for path in [
            "bg:256:0:0", "bg:1:2", "bg:#fff", "bg:ffff", "bg:1:2:3:4", "bl:-1", "bl:", "sh:x", "pix:-1", "pix:0.5",
        ] {
            #expect(requests.error(path)?.status == 400, "\(path)")
        }
    }

    @Test func `Watermark`() throws {
        try expect("watermark:0.5:soea:10:20:0.6", "wm:0.5:soea:10:20:0.6") {
            $0.watermark.opacity = 0.5
            $0.watermark.position = .gravity(.southEast)
            ($0.watermark.xOffset, $0.watermark.yOffset) = (10, 20)
            ($0.watermark.widthScale, $0.watermark.heightScale) = (0.6, 0.6)
        }
        try expect("wm:1:re") {
            $0.watermark.opacity = 1
            $0.watermark.position = .repeated
        }
        try expect("wm:0") { _ in }
        for path in ["wm:2", "wm:-1", "wm:", "wm:1:sm", "wm:1:fp", "wm:1:no:x", "wm:1:no:1:1:0", "wm:1:no:1:1:1:1:1:1"]
        {
            #expect(requests.error(path)?.status == 400, "\(path)")
        }
        #expect(requests.error("wm:1:ch") == .unsupportedOption("watermark.ch"))
    }

    @Test func `Encoding`() throws {
        try expect("format:webp", "f:webp", "ext:webp") { $0.format = .webp }
        for (name, format) in ImgproxyOption.formats { try expect("f:\(name)") { $0.format = format } }
        try expect("quality:55", "q:55") { $0.quality = 55 }
        try expect("q:55/q:0") { _ in }
        try expect("format_quality:jpeg:85:webp:75", "fq:jpg:85:webp:75", "fq:jpeg:1:avif:2/fq:jpg:85:webp:75:avif:0") {
            $0.formatQuality = [.jpeg: 85, .webp: 75]
        }
        try expect("max_bytes:1024", "mb:1024") { $0.maxBytes = 1024 }
        try expect("strip_metadata:true", "sm:1") { $0.stripMetadata = true }
        try expect("keep_copyright:0", "kcr:0") { $0.keepCopyright = false }
        try expect("strip_color_profile:1", "scp:1") { $0.stripColorProfile = true }
        try expect("preserve_hdr:1", "ph:1") { $0.preserveHDR = true }
        try expect("enforce_thumbnail:1", "eth:1") { $0.enforceThumbnail = true }
        for path in [
            "q:101", "q:-1", "q:x", "fq:jpg", "fq:nope:1", "fq:jpg:x", "mb:-1", "f:nope", "f:", "f:JPG", "f:png:jpg",
        ] {
            #expect(requests.error(path)?.status == 400, "\(path)")
        }
        #expect(requests.error("f:best") == .unsupportedOption("format.best"))
    }

    @Test func `Answers`() throws {
        try expect("skip_processing:jpg:png", "skp:jpeg:png", "skp:jpg/skp:png") { $0.skipProcessing = [.jpeg, .png] }
        try expect("raw:1") { $0.raw = true }
        try expect("cachebuster:123", "cb:123") { $0.cacheBuster = "123" }
        try expect("cb:123/cb:") { _ in }
        try expect("filename:the_image.jpg", "fn:the_image.jpg", "fn:dGhlX2ltYWdlLmpwZw:1", "fn:the_image.jpg:0") {
            $0.filename = "the_image.jpg"
        }
        try expect("return_attachment:1", "att:1") { $0.returnAttachment = true }
        #expect(requests.error("skp:jpg:png:bad_format")?.status == 400)
        // A line feed would end a field of the head.
        #expect(requests.error("fn:YQpi:1")?.status == 400)
        #expect(requests.error("fn:a!:1")?.status == 400)
        #expect(requests.error("cb:1:2")?.status == 400)
    }

    @Test func `The extension of a raw request is no format`() throws {
        #expect(try requests.request("raw:1/plain/\(ImgproxyRequests.source)@png").options.format == nil)
        #expect(try requests.request("raw:1/plain/\(ImgproxyRequests.source)@nope").options.raw)
    }

    @Test func `An expired URL is not found`() throws {
        let now: Int64 = 1_700_000_000
        let path = "/plain/" + ImgproxyRequests.source
        #expect(try requests.request("exp:32503669200" + path, now: now).options.expires == 32_503_669_200)
        #expect(try requests.request("expires:\(now)" + path, now: now).options.expires == now)
        #expect(try requests.request("exp:0" + path, now: now).options.expires == nil)
        for time in ["1609448400", "\(now - 1)", "1"] {
            let error = #expect(throws: ServerError.self) { try requests.request("exp:\(time)" + path, now: now) }
            #expect(error == .expired)
        }
        for time in ["", "x", "1.5", "99999999999999999999"] { #expect(requests.error("exp:\(time)")?.status == 400) }
    }

    @Test func `Limits need a permission`() throws {
        let path = "msr:1.5/msfs:1024/maf:10/mafr:2.5/mrd:300"
        #expect(requests.error(path) == .forbiddenOption("msr"))
        #expect(requests.error("max_result_dimension:1")?.status == 403)
        var allowing = requests
        allowing.configuration.allowsLimits = true
        var expected = VariantOptions()
        expected.limits.sourcePixels = 1_500_000
        expected.limits.sourceBytes = 1024
        expected.limits.animationFrames = 10
        expected.limits.animationFramePixels = 2_500_000
        expected.limits.resultSide = 300
        #expect(try allowing.options(path) == expected)
        let long =
            "max_src_resolution:1.5/max_src_file_size:1024/max_animation_frames:10/max_animation_frame_resolution:2.5/"
            + "max_result_dimension:300"
        #expect(try allowing.options(long) == expected)
        for path in ["maf:0", "msr:-1", "msr:1e300", "msfs:x"] { #expect(allowing.error(path)?.status == 400) }
    }

    @Test func `Options of imgproxy Pro are refused by name, others are unknown`() {
        for name in ImgproxyOption.namesOfPro { #expect(requests.error(name + ":1") == .unsupportedOption(name)) }
        let error = requests.error("nope:1")
        #expect(error?.status == 400)
        #expect(error?.message == "Unknown option 'nope'")
        #expect(requests.error("Width:1")?.status == 400)
    }

    @Test(arguments: [
        "w:1:2", "w:-1", "w:x", "w:", "h:1.5", "w:2147483648", "s:1:2:3:1:no:1:2:3", "rs:fill:1:2:3:1:no:1:2:3",
    ])
    func `Wrong numbers and arguments of sizes are errors`(_ path: String) {
        #expect(requests.error(path)?.status == 400)
    }

    @Test(arguments: [
        "rs:cover", "rt:", "rt:cover", "z:0", "z:1:0", "z:1:2:3", "dpr:0", "dpr:-1", "dpr:nan", "dpr:1e999", "mw:x",
    ])
    func `Wrong factors and types are errors`(_ path: String) {
        #expect(requests.error(path)?.status == 400)
    }

    @Test func `Another separator is possible`() throws {
        var separated = requests
        separated.configuration.argumentSeparator = ","
        var expected = VariantOptions()
        (expected.width, expected.height, expected.enlarge) = (.pixels(100), .pixels(100), true)
        #expect(try separated.options("size,100,100,1") == expected)
        separated.configuration.argumentSeparator = "__"
        #expect(try separated.options("size__100__100__1") == expected)
        separated.configuration.argumentSeparator = ""
        #expect(throws: GrammarConfigurationError.self) { try separated.options("") }
    }

    @Test func `Only allowed options are accepted, in presets all`() throws {
        var limited = ImgproxyRequests(presets: ["test1=blur:0.2"])
        limited.configuration.allowedOptions = ["w", "h", "pr"]
        #expect(limited.error("w:100/h:200") == nil)
        #expect(limited.error("w:100/h:200/blur:10") == .forbiddenOption("blur"))
        #expect(limited.error("w:100/h:200/pr:test1") == nil)
        #expect(limited.error("w:100/h:200/pr:test1/blur:10") == .forbiddenOption("blur"))
        // A name is allowed as written.
        #expect(limited.error("width:100") == .forbiddenOption("width"))
    }

    /// imgproxy reads client hints before the path.
    @Test func `Options of the path replace the defaults`() throws {
        var hinted = requests
        (hinted.defaults.width, hinted.defaults.dpr) = (.pixels(50), 2)
        #expect(try hinted.options("") == hinted.defaults)
        let options = try hinted.options("w:150/dpr:3")
        #expect(options.width == .pixels(150))
        #expect(options.dpr == 3)
    }
}
