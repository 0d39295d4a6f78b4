import FoundationEssentials
import TestSupport
import Testing
import WebImage

@testable import WebImageSVG

/// Small documents that would take long to draw, or the process with them.
@Suite(.timeLimit(.minutes(1))) struct SVGWorkTests {
    private func document(_ body: String, before: String = "", size: Int = 500, more: String = "") -> Data {
        Data(
            "\(before)<svg xmlns='http://www.w3.org/2000/svg' width='\(size)' height='\(size)' \(more)>\(body)</svg>"
                .utf8
        )
    }

    /// Why a document is refused, without drawing it.
    private func refusal(_ data: Data, size: Int = 500) -> WebImageError? {
        do throws(WebImageError) {
            let (screened, work) = try SVGScreening.screened(data, limits: ImageLimits())
            try SVGDocument(screened).check(work, width: size, height: size)
            return nil
        } catch { return error }
    }

    private func isTooMuch(_ data: Data) -> Bool { refusal(data)?.limit?.name == "seconds to draw the SVG document" }

    /// Groups of ten uses of the one before, the last of which is `g` with the level in its name.
    private func levels(_ count: Int, of first: String) -> String {
        "<defs><g id='g0'>\(first)</g>"
            + (1...count).map { level in
                "<g id='g\(level)'>\(String(repeating: "<use href='#g\(level - 1)'/>", count: 10))</g>"
            }.joined() + "</defs><use href='#g\(count)'/>"
    }

    private static let rect = "<rect width='500' height='500' fill='red'/>"
    private static let blur = "<filter id='f'><feGaussianBlur stdDeviation='30'/></filter>"

    @Test(arguments: [1, 8, 18, 40])
    func `Elements in entities lie as deep as the entities do`(count: Int) throws {
        let open = String(repeating: "<g>", count: 250)
        let close = String(repeating: "</g>", count: 250)
        let entities = (1...count).map { "<!ENTITY e\($0) \"\(open)&e\($0 - 1);\(close)\">" }.joined()
        let before = "<!DOCTYPE svg [<!ENTITY e0 \"\(Self.rect.replacing("'", with: "&#39;"))\">\(entities)]>"
        let data = document("&e\(count);", before: before)
        #expect((refusal(data) == nil) == (count == 1))
        #expect((try? SVGCoder().properties(of: data, limits: ImageLimits())) == nil || count == 1)
    }

    @Test func `Entities of markup are drawn where they are used`() throws {
        let before =
            "<!DOCTYPE svg [<!ENTITY inner '<rect width=\"20\" height=\"20\"/>'><!ENTITY outer '<g>&inner;</g>'>]>"
        let image = try SVGCoder().decode(document("<g>&outer;</g>", before: before, size: 20), options: .init())
        #expect(image.bitmap.premultipliedRGBA(x: 10, y: 10)[3] == 255)
        let open = "<!DOCTYPE svg [<!ENTITY a '<g>'><!ENTITY b '</g>'>]>"
        #expect(refusal(document("&a;&b;", before: open))?.code == .badImageData)
    }

    @Test func `What entities make in all attributes together is bounded`() {
        let long = String(repeating: "a", count: 200_000)
        let before = "<!DOCTYPE svg [<!ENTITY a '\(long)'>]>"
        let few = String(repeating: "<g class='&a;'/>", count: 3)
        #expect(refusal(document(few, before: before)) == nil)
        #expect(
            refusal(document(String(repeating: "<g class='&a;'/>", count: 30), before: before))?.code == .badImageData
        )
        let markup =
            "<!DOCTYPE svg [<!ENTITY a '\(String(repeating: "<g class=\"\(long.prefix(2000))\"/>", count: 100))'>]>"
        #expect(refusal(document(String(repeating: "&a;", count: 30), before: markup))?.code == .badImageData)
    }

    @Test func `References that multiply filters are refused, some are not`() {
        for use in [
            "<g filter='url(#f)'>\(Self.rect)</g>", "<g style='filter:url(#f)'>\(Self.rect)</g>",
            "<g style='fi\\6cter/**/: URL( \"#f\" )'>\(Self.rect)</g>", "<g class='b c'>\(Self.rect)</g>",
            "<g filter='blur(30px)'>\(Self.rect)</g>",
        ] {
            let style = "<style>@media all { a > g.c:first-child { filter: url(#f) } }</style>"
            #expect(refusal(document(style + Self.blur + levels(1, of: use))) == nil, "\(use)")
            #expect(isTooMuch(document(style + Self.blur + levels(3, of: use))), "\(use)")
            // At a thirtieth of the size there is time for it.
            #expect(refusal(document(style + Self.blur + levels(3, of: use)), size: 16) == nil)
        }
    }

    @Test func `Patterns, masks, markers and clip paths multiply as uses do`() {
        for (name, attribute) in [
            ("pattern", "fill"), ("pattern", "stroke"), ("mask", "mask"), ("marker", "marker-start"),
            ("clipPath", "clip-path"),
        ] {
            // Each level has ten shapes that have the one before.
            var body = "<\(name) id='p0'>\(Self.rect)</\(name)>"
            for level in 1...7 {
                let shape = "<path d='M0 0h500v500' \(attribute)='url(#p\(level - 1))'/>"
                body += "<\(name) id='p\(level)'>\(String(repeating: shape, count: 10))</\(name)>"
            }
            #expect(
                isTooMuch(document(body + "<rect width='500' height='500' \(attribute)='url(#p7)'/>")),
                "\(attribute)"
            )
            // The same, inherited by shapes that do not say it.
            var inherited = "<\(name) id='p0'>\(Self.rect)</\(name)>"
            for level in 1...7 {
                let shapes = String(repeating: "<path d='M0 0h500v500'/>", count: 10)
                inherited += "<\(name) id='p\(level)'><g \(attribute)='url(#p\(level - 1))'>\(shapes)</g></\(name)>"
            }
            guard attribute != "mask", attribute != "clip-path" else { continue }
            #expect(isTooMuch(document(inherited + "<g \(attribute)='url(#p7)'>\(Self.rect)</g>")), "\(attribute)")
        }
        // A marker stands at every point of a line.
        let points = (0..<2000).map { "\($0 % 500),\($0 * 7 % 500)" }.joined(separator: " ")
        let marker = "<marker id='m'>\(String(repeating: Self.rect, count: 50))</marker>"
        let line = "<polyline points='\(points)' marker-mid='url(#m)'/>"
        #expect(isTooMuch(document(marker + line + line)))
        #expect(refusal(document(marker + line.replacing("marker-mid", with: "marker-end"))) == nil)
    }

    @Test func `What containers of patterns have counts for what is in them`() {
        var body = "<pattern id='p0'>\(Self.rect)</pattern>"
        for level in 1...7 {
            let shapes = String(repeating: "<path d='M0 0h500v500'/>", count: 10)
            body += "<g fill='url(#p\(level - 1))'><pattern id='p\(level)'>\(shapes)</pattern></g>"
        }
        #expect(isTooMuch(document(body + "<path d='M0 0h9v9' fill='url(#p7)'/>")))
    }

    @Test func `A filter of many steps, or of long ones, is refused`() {
        let many = String(repeating: "<feGaussianBlur stdDeviation='9'/>", count: 2000)
        #expect(isTooMuch(document("<filter id='f'>\(many)</filter>")))
        for (radius, more) in [
            ("200", ""), ("200 300", ""), ("1", "viewBox='0 0 2 2'"), (".5", "data-units"),
        ] {
            let units = more == "data-units" ? "primitiveUnits='objectBoundingBox'" : ""
            // librsvg 2.54 takes 4.2 µs for each pixel at any radius from 10 on, so that 60 s are enough for 57 steps.
            for (steps, isRefused) in [(30, false), (60, true)] {
                let filter = String(repeating: "<feMorphology radius='\(radius)'/>", count: steps)
                let shown = document(
                    "<filter id='f' \(units)>\(filter)</filter><g filter='url(#f)'>\(Self.rect)</g>",
                    more: more.hasPrefix("view") ? more : ""
                )
                #expect(isTooMuch(shown) == isRefused, "\(radius) \(more)")
            }
        }
        let scaled =
            "<filter id='f'>\(String(repeating: "<feMorphology radius='2'/>", count: 60))</filter><g transform='scale(99)' filter='url(#f)'/>"
        #expect(isTooMuch(document(scaled)))
        let usual = "<filter id='f'><feMorphology radius='2'/></filter><g transform='translate(99)' filter='url(#f)'/>"
        #expect(refusal(document(usual)) == nil)
    }

    @Test func `References that are too deep are refused`() {
        let chain = (1...2000).map { "<g id='c\($0)'><use href='#c\($0 - 1)'/></g>" }.joined()
        #expect(refusal(document("<g id='c0'/>" + chain))?.code == .badImageData)
        let backwards = (1...2000).map { "<g id='c\($0)'><use href='#c\($0 + 1)'/></g>" }.joined()
        #expect(refusal(document(backwards))?.code == .badImageData)
        // A link is no drawing.
        #expect(refusal(document("<g id='a'><a href='#a'>\(Self.rect)</a></g>")) == nil)
    }

    /// What librsvg 2.54.7 draws of each, by a program of its own: lime at (10, 10), and red at (50, 10) or nothing.
    @Test(arguments: [
        "<g id='a'><use href='#b'/><path d='M40 0h20v20h-20z' fill='red'/></g><g id='b'><use href='#a'/>LIME</g>",
        "<g id='a'><use href='#a'/>LIME</g>",
        "LIME<g id='a'><use href='#b'/></g><g id='b'><use href='#c'/></g>"
            + "<g id='c'><use href='#a'/></g>",
        "<pattern id='p' width='9' height='9'><path d='M0 0h9v9' fill='url(#p)'/></pattern>LIME<circle r='5' fill='url(#p)'/>",
        "<mask id='m' mask='url(#m)'><path d='M0 0h9v9'/></mask>LIME<circle r='5' mask='url(#m)'/>",
        "<clipPath id='m'><path d='M0 0h9v9' clip-path='url(#m)'/></clipPath>LIME<circle r='5' clip-path='url(#m)'/>",
        "<marker id='m'><path d='M0 0L5 5 0 5' marker-mid='url(#m)'/></marker>LIME<path d='M0 50h50v30' marker-mid='url(#m)'/>",
        "<linearGradient id='g' href='#h'/><linearGradient id='h' href='#g'/>LIME<circle r='5' fill='url(#g)'/>",
        "<filter id='f'><feImage href='#x'/></filter>LIME<circle id='x' cy='50' r='5' filter='url(#f)'/>",
    ])
    func `An element that refers to itself by a circle is left out, and the rest is drawn`(body: String) throws {
        let data = document(body.replacing("LIME", with: "<path d='M0 0h20v20h-20z' fill='lime'/>"), size: 100)
        let bitmap = try SVGCoder().decode(data, options: .init()).bitmap
        #expect(bitmap.premultipliedRGBA(x: 10, y: 10) == [0, 255, 0, 255])
        let isRed = bitmap.premultipliedRGBA(x: 50, y: 10) == [255, 0, 0, 255]
        #expect(isRed == body.contains("red"))
    }

    @Test func `Circles that multiply what is drawn are refused`() {
        func clique(_ count: Int) -> String {
            (0..<count).map { own in
                let others = (0..<count).filter { $0 != own }.map { "<use href='#k\($0)'/>" }.joined()
                return "<g id='k\(own)'>\(others)<path d='M0 0h1v1'/></g>"
            }.joined()
        }
        // Each draws each other one in all orders that there are.
        #expect(refusal(document(clique(4)), size: 50) == nil)
        #expect(refusal(document(clique(9)))?.code == .limitExceeded)
        #expect(refusal(document(clique(60)))?.code == .limitExceeded)
    }

    @Test func `References that librsvg can follow are drawn`() throws {
        let chain = (1...200).map { "<g id='c\($0)'><use href='#c\($0 - 1)'/></g>" }.joined()
        let body = "<defs><g id='c0'>\(Self.rect)</g>\(chain)</defs><use href='#c200'/>"
        let image = try? SVGCoder().decode(document(body, size: 20), options: .init())
        // It may have a limit of its own, but ends nothing.
        #expect(image == nil || image?.bitmap.premultipliedRGBA(x: 10, y: 10).count == 4)
    }

    @Test func `References as deep as they may be need no great stack`() {
        let chain = (1...240).map { "<g id='c\($0)'><use href='#c\($0 - 1)'/></g>" }.joined()
        let data = document("<defs><g id='c0'/>\(chain)</defs><use href='#c240'/>")
        let result = Monitor<Bool?>(nil)
        startThread(stackByteCount: 256 << 10) {
            let image = try? SVGCoder().decode(data, options: .init())
            result.withLock { $0 = image != nil }
        }
        // Drawn or refused, as librsvg has it.
        #expect(result.wait { $0 } != nil)
    }

    @Test func `Style sheets in addresses are refused, others that are not read are not`() {
        for style in [
            "@import url('data:text/css,*{filter:url(%23f)}');", "@\\69mport 'DATA:text/css,'; ",
            "@import \"data:text/css,\"",
        ] {
            #expect(
                (refusal(document("<style>\(style)</style>")) != nil) == style.hasSuffix(";") || style.hasSuffix("; ")
            )
        }
        #expect(refusal(document("<style>@import url(https://fonts.example/css);</style>")) == nil)
        #expect(refusal(document("", before: "<?xml-stylesheet href='data:text/css,a'?>"))?.code == .badImageData)
        #expect(refusal(document("", before: "<?xml-stylesheet href='a.css'?>")) == nil)
        #expect(refusal(document("<g filter='url(data:image/svg+xml,a#f)'/>"))?.code == .badImageData)
        let defaults = "<!DOCTYPE svg [<!ATTLIST g filter CDATA 'url(#f)'>]>"
        #expect(refusal(document("<g/>", before: defaults))?.code == .badImageData)
    }

    @Test func `Rules are for the last name of their selectors`() throws {
        let sheet = try SVGStyleSheet(
            Array(
                """
                /* g { mask: url(#no) } */ a b.x.y, #i { filter: url(#f) } [a="}{"] { mask: url('#m') }
                svg|rect:hover { opacity: .5 } * { clip-path: url( "#c" ) } p { color: red }
                """.utf8
            )
        )
        #expect(sheet.rules.count == 4 && sheet.rules[.element(Array("p".utf8))] == nil)
        let reference = SVGStyle.Reference(name: Array("f".utf8), times: .once)
        #expect(sheet.rules[.class(Array("x".utf8))]?.references == [reference])
        #expect(sheet.rules[.identifier(Array("i".utf8))]?.references == [reference])
        #expect(sheet.rules[.element(Array("rect".utf8))]?.time == 3)
        #expect(sheet.rules[.all]?.references.map { String(decoding: $0.name, as: UTF8.self) }.sorted() == ["c", "m"])
    }

    @Test func `Drawings with filters and patterns of a usual number are drawn`() throws {
        let shadow =
            "<filter id='f'><feGaussianBlur stdDeviation='2'/><feOffset dx='1'/><feMerge><feMergeNode/></feMerge></filter>"
        let cards = (0..<40).map { "<use href='#card' x='\($0 * 10)' filter='url(#f)'/>" }.joined()
        let body =
            shadow
            + "<pattern id='p' width='4' height='4'><circle r='2'/></pattern><g id='card' fill='url(#p)'><rect width='9' height='9'/></g>"
        #expect(refusal(document(body + cards), size: 500) == nil)
        let big = String(repeating: "<rect width='9' height='9'/>", count: 20_000)
        #expect(refusal(document("<g fill='url(#p)'>\(big)</g><pattern id='p'/>"), size: 2000) == nil)
    }

    @Test func `Lines of endless dashes are refused`() {
        let dashed = "fill='none' stroke='red' stroke-dasharray='.2'"
        for shape in [
            "<path d='M0 -9L8000000 -9' \(dashed)/>", "<path d='m0-9h8e6' \(dashed)/>",
            "<path d='M0 0C8e6 0 0 8e6 9 9' \(dashed)/>",
            "<path d='M0 0A1e-6 1 0 0110 10' \(dashed)/>", "<path d='M0 0Q1e6 0 9 9T0 0 9 9 0 0 9 9 0 0' \(dashed)/>",
            "<line x1='-4e6' x2='4000000' \(dashed)/>", "<polyline points='0,0 8000000,0' \(dashed)/>",
            "<rect width='8000000' height='9' \(dashed)/>", "<circle r='80000in' \(dashed)/>",
            "<ellipse rx='9' style='ry:8000000px;stroke-dasharray:0.2'/>",
            "<g style='stroke-dasharray:.2 .1'><path d='M0 0h8e6'/></g>",
            "<style>path{stroke-dasharray:.2px,1px}</style><path d='M0 0h8e6'/>",
            "<line x2='99999' stroke-dasharray='.0001em'/>", "<line x2='99999' stroke-dasharray='.001%'/>",
            "<g font-size='.0001'><line x2='99999' stroke-dasharray='1em'/></g>",
            "<g style='font:.001px serif'><line x2='99999' stroke-dasharray='1em'/></g>",
            "<g id='a' font-size='.01em'><line x2='9999' stroke-dasharray='1em'/></g><g font-size='.01em'><use href='#a'/></g>",
            "<svg viewBox='0 0 .01 .01'><line x2='9999' stroke-dasharray='1%'/></svg>",
            "<line x2='99999' stroke-dasharray='1 nonsense'/>".replacing("1 nonsense", with: ".1zz"),
            "<svg viewBox='0 0 8000000 8000000'><rect width='100%' height='1%' \(dashed)/></svg>",
            "<style>rect{width:8000000px;height:9px}</style><rect \(dashed)/>",
            "<path d='M0 0h99999' id='p'/>" + String(repeating: "<use href='#p' stroke-dasharray='.2'/>", count: 50),
        ] {
            #expect(isTooMuch(document(shape)), "\(shape.prefix(80))")
            let solid = shape.replacing("stroke-dasharray", with: "stroke-nothing")
            #expect(refusal(document(solid)) == nil, "\(solid.prefix(80))")
        }
    }

    @Test func `Dashed lines of a usual length are drawn`() {
        let grid = (0..<2000).map { "<line x1='\($0 % 50)0' y1='1000' x2='\($0 % 50)0' y2='2000'/>" }.joined()
        let map = (0..<20_000).map { "L\($0 * 7 % 100 + 1000) \($0 * 3 % 100 + 1000)" }.joined()
        for dashes in [
            "4 2", "1", "5px, 3px", "none", "0", "inherit", "0 3", "1mm 1mm", "5%", "1% 2", ".5em 1ex", "2rem, 50%",
        ] {
            let body = "<g stroke='red' stroke-dasharray='\(dashes)'>\(grid)<path d='M0 0\(map)z'/></g>"
            #expect(refusal(document(body + "<rect width='100%' height='100%'/>"), size: 500) == nil, "\(dashes)")
        }
    }

    @Test func `Fonts that librsvg gives up on are refused before it says so`() {
        let text = "<text y='20'>a</text>"
        for font in ["font-size='1e9'", "style='font: bold 1e8px/2 serif'", "font-size='20000in'"] {
            #expect(refusal(document("<g \(font)>\(text)</g>"))?.message.contains("fonts") == true, "\(font)")
        }
        let nested = "<g font-size='30em'><g font-size='3000%'><g style='font-size: 200em'>\(text)</g></g></g>"
        #expect(refusal(document(nested))?.code == .badImageData)
        #expect(refusal(document("<style>g { font-size: 9e7px }</style><g>\(text)</g>"))?.code == .badImageData)
        for font in ["font-size='1e5'", "style='font: bold 12px serif'", "font-size='larger'", "font-size='5em'"] {
            #expect(refusal(document("<g \(font)>\(String(repeating: text, count: 50))</g>")) == nil, "\(font)")
        }
        #expect(refusal(document("<g font-size='1e9'>\(Self.rect)</g>")) == nil, "there is no text")
        let endless = String(repeating: "<g font-size='1e300em'>", count: 5) + "<g font-size='0%'><g font-size='-1em'>"
        let close = String(repeating: "</g>", count: 7)
        #expect(refusal(document("\(endless)\(text)\(close)"))?.code == .badImageData)
    }

    @Test func `What takes much longer than a decode may is refused before it is drawn`() throws {
        let noise = "<filter id='f'><feTurbulence baseFrequency='.1' numOctaves='9'/></filter>"
        let data = document(noise + String(repeating: "<g filter='url(#f)'>\(Self.rect)</g>", count: 40), size: 1000)
        var options = ImageDecodeOptions()
        options.limits.maximumDecodeDuration = 0.5
        let start = ContinuousClock.now
        let error = #expect(throws: WebImageError.self) { try SVGCoder().decode(data, options: options) }
        #expect(error?.limit?.name == "seconds to draw the SVG document" && error?.limit?.allowed == 2)
        #expect(ContinuousClock.now - start < .seconds(1))
        options.thumbnailPixelSize = ImageSize(width: 20, height: 20)
        #expect(try SVGCoder().decode(data, options: options).pixelWidth == 20)
    }
}
