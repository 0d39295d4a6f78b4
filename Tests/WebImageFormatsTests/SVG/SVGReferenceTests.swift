import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageSVG

/// Entities, and elements that refer to others.
@Suite(.tags(.addressSanitizer), .timeLimit(.minutes(10))) struct SVGReferenceTests {
    private let coder = SVGCoder.inProcess

    private func document(_ body: String, before: String = "", size: Int = 500) -> Data {
        SVGDrawings.document(body, before: before, size: size)
    }

    /// The reason for refusing a document, without drawing it.
    private func refusal(_ data: Data) -> WebImageError? {
        do throws(WebImageError) {
            _ = try SVGDocument(SVGScreening.screened(data, limits: ImageLimits()).0)
            return nil
        } catch { return error }
    }

    private static let rect = "<rect width='500' height='500' fill='red'/>"

    @Test(arguments: [1, 8, 18, 40])
    func `Elements in entities count with the entities' depth`(count: Int) throws {
        let open = String(repeating: "<g>", count: 250)
        let close = String(repeating: "</g>", count: 250)
        let entities = (1...count).map { "<!ENTITY e\($0) \"\(open)&e\($0 - 1);\(close)\">" }.joined()
        let before = "<!DOCTYPE svg [<!ENTITY e0 \"\(Self.rect.replacing("'", with: "&#39;"))\">\(entities)]>"
        let data = document("&e\(count);", before: before)
        #expect((refusal(data) == nil) == (count == 1))
        #expect((try? coder.properties(of: data, limits: ImageLimits())) == nil || count == 1)
    }

    @Test func `Entities of markup are drawn where they are used`() throws {
        let before =
            "<!DOCTYPE svg [<!ENTITY inner '<rect width=\"20\" height=\"20\"/>'><!ENTITY outer '<g>&inner;</g>'>]>"
        let image = try coder.decode(document("<g>&outer;</g>", before: before, size: 20), options: .init())
        #expect(image.bitmap.premultipliedRGBA(x: 10, y: 10)[3] == 255)
        let open = "<!DOCTYPE svg [<!ENTITY a '<g>'><!ENTITY b '</g>'>]>"
        #expect(refusal(document("&a;&b;", before: open))?.code == .badImageData)
    }

    @Test func `The total expansion of entities in attributes is limited`() {
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

    /// The result of librsvg 2.54.7 for each, by a separate program: lime at (10, 10), and red at (50, 10) or nothing.
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
    func `An element with a circular reference is left out, and the rest is drawn`(body: String) throws {
        let data = document(body.replacing("LIME", with: "<path d='M0 0h20v20h-20z' fill='lime'/>"), size: 100)
        let bitmap = try coder.decode(data, options: .init()).bitmap
        #expect(bitmap.premultipliedRGBA(x: 10, y: 10) == [0, 255, 0, 255])
        let isRed = bitmap.premultipliedRGBA(x: 50, y: 10) == [255, 0, 0, 255]
        #expect(isRed == body.contains("red"))
    }

    @Test func `References that librsvg can follow are drawn`() throws {
        let chain = (1...200).map { "<g id='c\($0)'><use href='#c\($0 - 1)'/></g>" }.joined()
        let body = "<defs><g id='c0'>\(Self.rect)</g>\(chain)</defs><use href='#c200'/>"
        let image = try? coder.decode(document(body, size: 20), options: .init())
        // It may have its own limit, but does not crash.
        #expect(image == nil || image?.bitmap.premultipliedRGBA(x: 10, y: 10).count == 4)
    }

    @Test(arguments: [("", "", 1600), ("<g>", "</g>", 31), ("<a>", "</a>", 31)])
    func `References in a document of 64 KiB do not exhaust the stack`(open: String, close: String, count: Int) async {
        // The ones with the largest stack use for their length.
        let (depth, coder) = (open.isEmpty ? 0 : 250, coder)
        let (before, after) = (String(repeating: open, count: depth), String(repeating: close, count: depth))
        let links = (0..<count).map { "<g id='c\($0)'>\(before)<use href='#c\($0 + 1)'/>\(after)</g>" }.joined()
        let data = document(links, size: 20)
        #expect(data.count > 50_000 && data.count <= 64 << 10)
        let result = Monitor<Bool?>(nil)
        // Nor that of the calling thread.
        startThread(stackByteCount: 256 << 10) {
            let image = try? coder.decode(data, options: .init())
            result.withLock { $0 = image != nil }
        }
        // Drawn or refused, depending on librsvg, which takes long in a sanitized build.
        #expect(await result.value(seconds: 120) { $0 } != nil)
    }

    @Test(arguments: [
        "@import url('data:text/css,*{filter:url(%23f)}');", "@\\69mport 'DATA:text/css,'; ",
        "@import \"data:text/css,\"", "<![CDATA[<!-- @import 'data:text/css,';]]>",
    ])
    func `Style sheets in addresses are refused`(style: String) {
        #expect(refusal(document("<style>\(style)</style>"))?.code == .badImageData)
    }

    @Test func `Content in addresses is refused where it would be drawn`() {
        #expect(refusal(document("<style>@import url(https://fonts.example/css);</style>")) == nil)
        #expect(refusal(document("", before: "<?xml-stylesheet href='data:text/css,a'?>"))?.code == .badImageData)
        #expect(refusal(document("", before: "<?xml-stylesheet href='a.css'?>")) == nil)
        for name in SVGStyle.properties {
            #expect(refusal(document("<g \(name)='url(data:image/svg+xml,a#f)'/>"))?.code == .badImageData, "\(name)")
            let style = "\(name) : x URL( \" data:image/svg+xml,a#f\")"
            #expect(refusal(document("<g style='a:b;\(style)'/>"))?.code == .badImageData, "\(name)")
            #expect(refusal(document("<style>g{\(style)}</style>"))?.code == .badImageData, "\(name)")
            let defaults = "<!DOCTYPE svg [<!ATTLIST g \(name) CDATA 'url(data:image/svg+xml,a#f)'>]>"
            #expect(refusal(document("<g/>", before: defaults))?.code == .badImageData, "\(name)")
            #expect(refusal(document("<g \(name)='url(#f)' style='\(name):url(#f)'/>")) == nil, "\(name)")
        }
        let defaults = "<!DOCTYPE svg [<!ATTLIST g style CDATA 'fill:url(data:image/svg+xml,a#f)'>]>"
        #expect(refusal(document("<g/>", before: defaults))?.code == .badImageData)
        // librsvg does not read them.
        let font = "@font-face{font-family:a;src:local(b),url(data:font/woff2;base64,AAAA) format('woff2')}"
        #expect(refusal(document("<style>\(font) g{cursor:url(data:image/png;base64,AAAA)}</style>")) == nil)
    }
}
