import FoundationEssentials
import TestSupport
import Testing
import WebImage

@testable import WebImageSVG

/// Ways to say something to librsvg that whoever looks at the document before it might not see.
@Suite(.timeLimit(.minutes(1))) struct SVGHiddenTests {
    private func document(_ body: String, before: String = "", size: Int = 500, more: String = "") -> Data {
        let names = "xmlns='http://www.w3.org/2000/svg' xmlns:x='https://names.example'"
        return Data("\(before)<svg \(names) width='\(size)' height='\(size)' \(more)>\(body)</svg>".utf8)
    }

    /// Why a document is refused, without drawing it.
    private func refusal(_ data: Data) -> WebImageError? {
        do throws(WebImageError) {
            let (screened, work) = try SVGScreening.screened(data, limits: ImageLimits())
            try SVGDocument(screened).check(work, width: 500, height: 500)
            return nil
        } catch { return error }
    }

    private func isTooMuch(_ data: Data) -> Bool { refusal(data)?.limit?.name == "seconds to draw the SVG document" }

    /// The alpha in the middle of a drawing of 20 pixels: 0 when nothing was drawn.
    private func middle(_ body: String) throws -> UInt8 {
        try SVGCoder().decode(document(body, size: 20), options: .init()).bitmap.premultipliedRGBA(x: 10, y: 10)[3]
    }

    /// A thousand times something, by references.
    private func often(_ first: String) -> String {
        "<defs><g id='g0'>\(first)</g>"
            + (1...3).map { "<g id='g\($0)'>\(String(repeating: "<use href='#g\($0 - 1)'/>", count: 10))</g>" }.joined()
            + "</defs><use href='#g3'/>"
    }

    private static let rect = "<rect width='500' height='500' fill='red'/>"
    private static let blur = "<filter id='f'><feGaussianBlur stdDeviation='30'/></filter>"
    private static let bomb =
        "data:image/png;base64,"
        + Data(PNGBomb.make(width: 30_000, height: 30_000).prefix(100)).base64EncodedString()

    @Test(arguments: [
        "RULE", "/*/ \" */ RULE /* \" */", "g{fill:xurl(/*)\"*/)} RULE /*\"*/", "g{fill:#url(/*)\"*/)} RULE /*\"*/",
        "g{fill:x/**/url(/*)} RULE", "g{x:\"&#13;} RULE h{y:\"}", "g{x:\"\\&#13;&#10; \"} RULE h{y:\"}",
        ".c{x:{;};filter:url(#f)}", ".c{x:(});filter:url(#f)}", ".c{x:[}];filter:url(#f)}", ".c{@x{}filter:url(#f)}",
        "g:not([a='{']) {} RULE", "@media all { g{fill:red} RULE }",
    ])
    func `Rules are seen wherever they stand in a style sheet`(sheet: String) {
        let style = "<style>\(sheet.replacing("RULE", with: ".c{filter:url(#f)}"))</style>"
        #expect(isTooMuch(document(style + Self.blur + often("<g class='c'>\(Self.rect)</g>"))))
        #expect(refusal(document(style + Self.blur + often("<g class='d'>\(Self.rect)</g>"))) == nil)
    }

    @Test func `Names of rules and of what they refer to may hold anything`() {
        for (name, written) in [("c:d", "c\\:d"), ("c.d", "c\\.d"), ("c(d", "c\\28 d"), ("c&#39;d", "c\\'d")] {
            let style = "<style>.\(written){filter:url(#f)} #\(written){filter:url(#f)}</style>"
            let body = style + Self.blur
            #expect(isTooMuch(document(body + often("<g class=\"e \(name)\">\(Self.rect)</g>"))), "\(name)")
            #expect(isTooMuch(document(body + often("<g id=\"\(name)\">\(Self.rect)</g>"))), "\(name)")
            let filter = "<filter id=\"\(name)\"><feGaussianBlur stdDeviation='30'/></filter>"
            for address in ["url(#\(written))", "url(&#34;#\(name)&#34;)", "url('#\(written)')"] {
                let shown = often("<g filter=\"\(address)\">\(Self.rect)</g>")
                #expect(isTooMuch(document(filter + shown)), "\(address)")
            }
        }
    }

    @Test(arguments: ["@x{}filter:url(#f)", "x:{;filter:url(#f)", "fill:red;filter:/*/ ; */url(#f)"])
    func `Declarations are seen wherever they stand in a style`(style: String) {
        #expect(isTooMuch(document(Self.blur + often("<g style='\(style)'>\(Self.rect)</g>"))))
    }

    @Test(arguments: [
        "<style>@import \"data\\3a text/css,*{}\";</style>", "<style>@import \"data\\:text/css,*{}\";</style>",
        "<style>@import \"da\tta:text/css,*{}\";</style>", "<style>@import url(data\\3a text/css,*{});</style>",
        "<g style='filter:url(\"data\\3a image/svg+xml,a#f\")'/>", "<g filter='url(\"da&#9;ta:image/svg+xml,a#f\")'/>",
        "<?xml-stylesheet type='text/css' href='da\tta:text/css,*{}'?>",
    ])
    func `Addresses of style sheets and filters are seen however they are written`(body: String) {
        #expect(refusal(document(body))?.code == .badImageData)
    }

    @Test func `An address after much white space is one`() {
        let image = "<image width='20' height='20' href='\(String(repeating: " ", count: 1100))\(Self.bomb)'/>"
        #expect(refusal(document(image))?.limit?.name == "maximumPixelCount")
    }

    @Test func `Drawings are embedded as pictures only`() throws {
        let inner = "<svg xmlns='http://www.w3.org/2000/svg' width='100%' height='100%'>\(Self.rect)</svg>"
        let address = "data:image/svg+xml;base64,\(Data(inner.utf8).base64EncodedString())"
        #expect(try middle("<image width='20' height='20' href='\(address)'/>") == 255)
        // They would be drawn at the size of the document, and not at their own.
        let include = "<xi:include xmlns:xi='http://www.w3.org/2001/XInclude' parse='xml' href='\(address)'/>"
        #expect(try middle(include) == 0)
        let named = Data(inner.replacing("<rect", with: "<rect id='r'").utf8).base64EncodedString()
        #expect(try middle("<use href='data:image/svg+xml;base64,\(named)#r'/>") == 0)
    }

    @Test func `Entities have names of any length`() {
        let name = String(repeating: "e", count: 300)
        let before = "<!DOCTYPE svg [<!ENTITY \(name) \"<image href='\(Self.bomb)'/>\">]>"
        #expect(refusal(document("&\(name);", before: before))?.limit?.name == "maximumPixelCount")
    }

    @Test func `Entities that XML has are not declared otherwise`() {
        let before = "<!DOCTYPE svg [<!ENTITY lt '</g><defs>'>]>"
        let body = Self.blur + "<g>&lt;\(often("<g filter='url(#f)'>\(Self.rect)</g>"))</g>"
        let data = document(body, before: before)
        // As newer versions of libxml2 say.
        #expect(isTooMuch(data) || refusal(data)?.code == .badImageData)
    }

    @Test func `The encoding is looked for in all of the declaration`() {
        for (name, isRefused) in [("UTF-7", true), ("UTF-8", false)] {
            let before = "<?xml version='1.0'\(String(repeating: " ", count: 300))encoding='\(name)'?>"
            #expect((refusal(document(Self.rect, before: before))?.code == .badImageData) == isRefused)
        }
    }

    @Test(arguments: ["class CDATA 'c'", "id ID 'i'", "a CDATA 'b' class (c|d) 'c'", "radius CDATA '300'"])
    func `Defaults of attributes that say what is drawn are refused`(list: String) {
        let before = "<!DOCTYPE svg [<!ATTLIST g \(list)>]>"
        #expect(refusal(document("<g/>", before: before))?.code == .badImageData)
        let harmless = "<!DOCTYPE svg [<!ATTLIST g id ID #IMPLIED class CDATA #IMPLIED><!ATTLIST g x:y CDATA 'c'>]>"
        #expect(refusal(document("<g/>", before: harmless)) == nil)
    }

    @Test func `Attributes with a prefix are others`() {
        let sheet = "<style>#a{filter:url(#f)} .c{filter:url(#f)}</style>"
        for names in ["id='a' x:id='b'", "class='c' x:class='d'"] {
            #expect(isTooMuch(document(sheet + Self.blur + often("<g \(names)>\(Self.rect)</g>"))), "\(names)")
        }
        let first = "<g x:id='f'/>" + Self.blur + often("<g filter='url(#f)'>\(Self.rect)</g>")
        #expect(isTooMuch(document(first)))
        #expect(isTooMuch(document(morphology("radius='300' x:radius='0'"))))
        #expect(!isTooMuch(document(morphology("radius='0' x:radius='300'"))))
        // What is called so for people goes in no circle.
        #expect(refusal(document("<g id='a1' x:id='a'><use href='#a'/></g><g id='a'/>")) == nil)
    }

    /// A filter of so many steps that there is time for those with a small radius only.
    private func morphology(_ attributes: String) -> String {
        let steps = String(repeating: "<feMorphology \(attributes)/>", count: 70)
        return "<filter id='m'>\(steps)</filter><g filter='url(#m)'/>"
    }

    @Test(arguments: ["1+300", "1/**/300", "300+1"])
    func `Numbers of a radius need nothing between them`(radius: String) {
        #expect(isTooMuch(document(morphology("radius='\(radius)'"))))
    }

    @Test(arguments: [
        ("<style>g{transform:scale(99)}</style>", ""), ("", "transform='sc\\61le(99)'"),
        ("", "style='transform:sc\\61le(99)'"),
    ])
    func `What is made bigger is seen wherever that is said`(sheet: String, attribute: String) {
        let steps = String(repeating: "<feMorphology radius='2'/>", count: 70)
        let body = "<filter id='f'>\(steps)</filter><g \(attribute) filter='url(#f)'/>"
        #expect(isTooMuch(document(sheet + body)))
        #expect(refusal(document(body.replacing(attribute, with: ""))) == nil)
    }
}
