import FoundationEssentials
import TestSupport
import Testing
import WebImage

@testable import WebImageSVG

/// Small documents that take long before anything is drawn: to look at, or to read.
@Suite(.timeLimit(.minutes(1))) struct SVGBoundTests {
    private func document(_ body: String, before: String = "") -> Data {
        Data("\(before)<svg xmlns='http://www.w3.org/2000/svg' width='500' height='500'>\(body)</svg>".utf8)
    }

    /// Why a document is refused before librsvg reads it.
    private func refusal(_ data: Data) -> WebImageError? {
        do throws(WebImageError) {
            _ = try SVGScreening.screened(data, limits: ImageLimits())
            return nil
        } catch { return error }
    }

    /// The same, or before it is drawn.
    private func refusalToDraw(_ data: Data, mostLookups: Int = 1 << 22) -> WebImageError? {
        do throws(WebImageError) {
            var (screened, work) = try SVGScreening.screened(data, limits: ImageLimits())
            work.mostLookups = mostLookups
            try SVGDocument(screened).check(work, width: 500, height: 500)
            return nil
        } catch { return error }
    }

    @Test func `Entities that multiply nothing end in an error`() {
        let levels = (1...6).map { level in
            "<!ENTITY a\(level) '\(String(repeating: "&a\(level - 1);", count: 100))'>"
        }.joined()
        let before = "<!DOCTYPE svg [<!ENTITY a0 ''>\(levels)]>"
        #expect(refusal(document("<g id='&a6;'/>", before: before))?.code == .badImageData)
        #expect(refusal(document("<g id='&a1;'/>", before: before)) == nil)
    }

    @Test(arguments: ["&", "&#", "&a"])
    func `References without an end take no longer than others`(reference: String) {
        let text = String(repeating: reference, count: 400_000)
        _ = refusal(document("", before: "<!DOCTYPE svg [<!ENTITY a '\(text)'>]>"))
        #expect(refusal(document("<g id='\(text)'/>"))?.code == .badImageData)
        #expect(refusal(document(text))?.code == .badImageData)
    }

    @Test func `An element has only so many attributes, given or by default`() {
        func attributes(_ count: Int) -> String { (0..<count).map { "a\($0)=''" }.joined(separator: " ") }
        #expect(refusal(document("<g \(attributes(1000))/>")) == nil)
        #expect(refusal(document("<g \(attributes(2000))/>"))?.code == .badImageData)
        func defaults(_ count: Int) -> String {
            "<!DOCTYPE svg [<!ATTLIST g \((0..<count).map { "a\($0) CDATA ''" }.joined(separator: " "))>]>"
        }
        #expect(refusal(document("<g/>", before: defaults(60))) == nil)
        #expect(refusal(document("<g/>", before: defaults(100)))?.code == .badImageData)
    }

    @Test func `A document has only so many elements`() {
        #expect(
            refusal(document(String(repeating: "<g/>", count: 1_000_001)))?.limit?.name
                == "elements of the SVG document"
        )
    }

    @Test func `References that lie 200 deep and double each time are refused at once`() {
        let levels = (1...200).map { "<g id='c\($0)'><use href='#c\($0 - 1)'/><use href='#c\($0 - 1)'/></g>" }.joined()
        let body = "<defs><g id='c0'><rect width='9' height='9'/></g>\(levels)</defs><use href='#c200'/>"
        #expect(refusalToDraw(document(body))?.code == .limitExceeded)
    }

    @Test(arguments: [
        ("a{}", 60_000, 60_000), ("x~g{fill:red}", 1, 60_000), (":nth-last-child(7n+3){}", 1, 60_000),
        ("a,b,c,d{fill:red}", 20_000, 60_000), ("x~y g{}", 100, 20_000),
    ])
    func `Rules that are compared with too many elements are refused`(rule: String, rules: Int, elements: Int) {
        let style = "<style>\(String(repeating: rule, count: rules))</style>"
        let refused = refusal(document(style + String(repeating: "<g/>", count: elements)))
        #expect(refused?.limit?.name == "seconds to read the SVG document")
    }

    @Test func `Rules and elements of a usual number are compared`() {
        let rules = (0..<300).map { ".c\($0), g > .d\($0):first-child { fill: red }" }.joined(separator: "\n")
        let paths = (0..<20_000).map { "<path class='c\($0 % 300)' d='M0 0'/>" }.joined()
        #expect(refusal(document("<style>\(rules)</style><g>\(paths)</g>")) == nil)
    }

    @Test func `References of rules for all are looked up only so often`() {
        let references = (0..<2000).map { "filter:url(#a\($0));" }.joined()
        let body = "<style>*{\(references)}</style>" + String(repeating: "<g/>", count: 200)
        let name = "references of the SVG document"
        #expect(refusalToDraw(document(body), mostLookups: 500_000)?.limit?.name == name)
        #expect(refusalToDraw(document(body), mostLookups: 1_000_000)?.limit?.name != name)
        let selectors = (0..<2000).map { ".c\($0)" }.joined(separator: ",")
        #expect(refusal(document("<style>\(selectors){\(references)}</style>"))?.code == .limitExceeded)
    }

    @Test func `What lies in much takes no more memory, and only so much time`() {
        let open = String(repeating: "<g fill='url(#p)'>", count: 250)
        let masks = (0..<1000).map { "<mask id='m\($0)'/><g mask='url(#m\($0))'/>" }.joined()
        let body = "<pattern id='p'/>" + open + masks + String(repeating: "</g>", count: 250)
        let name = "references of the SVG document"
        #expect(refusalToDraw(document(body), mostLookups: 200_000)?.limit?.name == name)
        #expect(refusalToDraw(document(body), mostLookups: 1_000_000)?.limit?.name != name)
    }
}
