import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageSVG

/// Small documents that take long to check.
@Suite(.tags(.addressSanitizer), .timeLimit(.minutes(10))) struct SVGBoundTests {
    private func document(_ body: String, before: String = "") -> Data {
        SVGDrawings.document(body, before: before)
    }

    /// The reason for refusing a document before librsvg reads it.
    private func refusal(_ data: Data) -> WebImageError? {
        do throws(WebImageError) {
            _ = try SVGScreening.screened(data, limits: ImageLimits())
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
    func `Endless references take no longer than others`(reference: String) {
        let text = String(repeating: reference, count: 400_000)
        _ = refusal(document("", before: "<!DOCTYPE svg [<!ENTITY a '\(text)'>]>"))
        #expect(refusal(document("<g id='\(text)'/>"))?.code == .badImageData)
        #expect(refusal(document(text))?.code == .badImageData)
    }

    @Test func `The number of an element's attributes is limited, given or by default`() {
        func attributes(_ count: Int) -> String { (0..<count).map { "a\($0)=''" }.joined(separator: " ") }
        #expect(refusal(document("<g \(attributes(1000))/>")) == nil)
        #expect(refusal(document("<g \(attributes(2000))/>"))?.code == .badImageData)
        func defaults(_ count: Int) -> String {
            "<!DOCTYPE svg [<!ATTLIST g \((0..<count).map { "a\($0) CDATA ''" }.joined(separator: " "))>]>"
        }
        #expect(refusal(document("<g/>", before: defaults(60))) == nil)
        #expect(refusal(document("<g/>", before: defaults(100)))?.code == .badImageData)
    }
}
