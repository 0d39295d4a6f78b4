import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageSVG

/// Ways to hide something from the check that librsvg would still read.
@Suite(.tags(.addressSanitizer), .timeLimit(.minutes(10))) struct SVGHiddenTests {
    private func document(_ body: String, before: String = "", size: Int = 500) -> Data {
        let names = "xmlns='http://www.w3.org/2000/svg' xmlns:x='https://names.example'"
        return Data("\(before)<svg \(names) width='\(size)' height='\(size)'>\(body)</svg>".utf8)
    }

    /// The reason for refusing a document, without drawing it.
    private func refusal(_ data: Data) -> WebImageError? {
        do throws(WebImageError) {
            _ = try SVGDocument(SVGScreening.screened(data, limits: ImageLimits()).0)
            return nil
        } catch { return error }
    }

    /// Returns whether a document is refused because of a URL.
    private func isRefused(_ data: Data) -> Bool { refusal(data)?.message.contains("URL") == true }

    /// The alpha in the middle of a drawing of 20 pixels: 0 when nothing was drawn.
    private func middle(_ body: String) throws -> UInt8 {
        try SVGCoder.inProcess.decode(document(body, size: 20), options: .init())
            .bitmap.premultipliedRGBA(x: 10, y: 10)[3]
    }

    private static let rect = "<rect width='500' height='500' fill='red'/>"
    /// The data there is not checked.
    private static let address = "url(data:image/svg+xml,a#f)"
    private static let bomb =
        "data:image/png;base64,"
        + Data(PNGBomb.make(width: 30_000, height: 30_000).prefix(100)).base64EncodedString()

    @Test(arguments: [
        "RULE", "/*/ \" */ RULE /* \" */", "g{fill:xurl(/*)\"*/)} RULE /*\"*/", "g{fill:#url(/*)\"*/)} RULE /*\"*/",
        "g{fill:x/**/url(/*)} RULE", "g{x:\"&#13;} RULE h{y:\"}", "g{x:\"\\&#13;&#10; \"} RULE h{y:\"}",
        ".c{x:{;};filter:url(#f)}", ".c{x:(});filter:url(#f)}", ".c{x:[}];filter:url(#f)}", ".c{@x{}filter:url(#f)}",
        "g:not([a='{']) {} RULE", "@media all { g{fill:red} RULE }",
    ])
    func `Rules are found at every place in a style sheet`(sheet: String) {
        func style(_ address: String) -> String {
            "<style>\(sheet.replacing("RULE", with: ".c{filter:url(#f)}").replacing("url(#f)", with: address))</style>"
        }
        #expect(isRefused(document(style(Self.address))))
        #expect(refusal(document(style("url(#f)"))) == nil)
    }

    @Test(arguments: ["<style>/*</style>", "<style>g{a:\"</style>", "<style>g{fill:url(</style>"])
    func `Style sheets do not hide each other`(first: String) {
        #expect(isRefused(document("\(first)<style>g{filter:\(Self.address)}</style>")))
        #expect(isRefused(document("<style><g>/*</g>g{filter:\(Self.address)}</style>")))
        #expect(refusal(document("\(first)<style>g{filter:url(#f)}</style>")) == nil)
    }

    @Test(arguments: [
        "@x{}filter:ADDRESS", "x:{;filter:ADDRESS", "fill:red;filter:/*/ ; */ADDRESS", "fi\\6cter:x ADDRESS",
    ])
    func `Declarations are found at every place in a style`(style: String) {
        #expect(isRefused(document("<g style='\(style.replacing("ADDRESS", with: Self.address))'/>")))
        #expect(refusal(document("<g style='\(style.replacing("ADDRESS", with: "url(#f)"))'/>")) == nil)
    }

    @Test(arguments: [
        "\\1 data:", "\\20 data:", "\\1f data:", "da\\9 ta:", "da\\a ta:", "da\\00000dta:", "d\\61 ta\\3a", "da&#9;ta:",
        "\\&#10;data:",
    ])
    func `An address is the same with control characters and escapes in it`(start: String) {
        for quote in ["&#34;", ""] {
            let address = "url(\(quote)\(start)image/svg+xml,a#f\(quote))"
            // White space ends an address without quotes.
            guard !quote.isEmpty || !start.contains("&") else { continue }
            #expect(isRefused(document("<g fill='\(address)'/>")), "\(address)")
            #expect(isRefused(document("<g style='fill:\(address)'/>")), "\(address)")
            #expect(isRefused(document("<style>g{fill:\(address)}</style>")), "\(address)")
            #expect(isRefused(document("<style>@import \(address);</style>")), "\(address)")
        }
    }

    @Test(arguments: [
        "<style>@import \"data\\3a text/css,*{}\";</style>", "<style>@import \"data\\:text/css,*{}\";</style>",
        "<style>@import \"da\tta:text/css,*{}\";</style>", "<style>@import url(data\\3a text/css,*{});</style>",
        "<g style='filter:url(\"data\\3a image/svg+xml,a#f\")'/>", "<g filter='url(\"da&#9;ta:image/svg+xml,a#f\")'/>",
        "<?xml-stylesheet type='text/css' href='da\tta:text/css,*{}'?>",
    ])
    func `Addresses in style sheets and filters are found in every spelling`(body: String) {
        #expect(refusal(document(body))?.code == .badImageData)
    }

    @Test func `An address after much white space is found`() {
        let image = "<image width='20' height='20' href='\(String(repeating: " ", count: 1100))\(Self.bomb)'/>"
        #expect(refusal(document(image))?.limit?.name == "maximumPixelCount")
    }

    @Test func `Drawings may be embedded only as images`() throws {
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

    @Test func `Predefined XML entities cannot be redefined`() {
        // Newer versions of libxml2 refuse that.
        let before = "<!DOCTYPE svg [<!ENTITY lt \"</g><image href='\(Self.bomb)'/><g>\">]>"
        let refused = refusal(document("<g>&lt;</g>", before: before))
        #expect(refused == nil || refused?.code == .badImageData)
    }

    @Test func `The encoding is found anywhere in the declaration`() {
        for (name, isRefused) in [("UTF-7", true), ("UTF-8", false)] {
            let before = "<?xml version='1.0'\(String(repeating: " ", count: 300))encoding='\(name)'?>"
            #expect((refusal(document(Self.rect, before: before))?.code == .badImageData) == isRefused)
        }
    }

    @Test func `Attributes with a prefix are different ones`() {
        #expect(refusal(document("<g x:fill='\(Self.address)' x:style='fill:\(Self.address)'/>")) == nil)
        #expect(isRefused(document("<g fill='\(Self.address)' x:fill='red'/>")))
        #expect(refusal(document("<image x:href='\(Self.bomb)'/>"))?.limit?.name == "maximumPixelCount")
    }
}
