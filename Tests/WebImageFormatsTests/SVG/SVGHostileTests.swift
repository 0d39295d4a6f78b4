import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImage
import WebImageSVG

@Suite(.tags(.addressSanitizer), .timeLimit(.minutes(10))) struct SVGHostileTests {
    private let coder = SVGCoder.inProcess

    private func document(_ body: String, before: String = "") -> Data {
        let names = "xmlns='http://www.w3.org/2000/svg' xmlns:xlink='http://www.w3.org/1999/xlink'"
        return Data("\(before)<svg \(names) width='20' height='20'>\(body)</svg>".utf8)
    }

    private func error(_ data: Data, _ options: ImageDecodeOptions = .init()) -> WebImageError? {
        do throws(WebImageError) {
            _ = try coder.decode(data, options: options)
            return nil
        } catch { return error }
    }

    /// The alpha in the middle: 0 when nothing was drawn.
    private func middle(_ data: Data) throws -> UInt8 {
        try coder.decode(data, options: ImageDecodeOptions()).bitmap.premultipliedRGBA(x: 10, y: 10)[3]
    }

    private func base64(_ bytes: some Sequence<UInt8>) -> String { Data(bytes).base64EncodedString() }

    private static let red = "<rect width='20' height='20' fill='red'/>"

    @Test func `Files are not read`() throws {
        let directory = TemporaryDirectory()
        let picture = directory.path("a.svg")
        try document(Self.red).write(to: URL(fileURLWithPath: picture))
        #expect(try middle(document(Self.red)) == 255)
        for address in [
            picture, "file://\(picture)", "a.svg", "../../../../../../\(picture)", "http://127.0.0.1:1/a.svg",
        ] {
            for body in [
                "<image width='20' height='20' href='\(address)'/>",
                "<image width='20' height='20' xlink:href='\(address)'/>",
                "<use href='\(address)#r'/>",
                "<xi:include xmlns:xi='http://www.w3.org/2001/XInclude' href='\(address)' parse='xml'/>",
                "<filter id='f'><feImage href='\(address)'/></filter><rect width='20' height='20' filter='url(#f)'/>",
            ] { #expect(try middle(document(body)) == 0, "\(body)") }
        }
        let css = directory.path("a.css")
        try Data("rect { fill: red }".utf8).write(to: URL(fileURLWithPath: css))
        let hidden = "<rect width='20' height='20' fill='none'/>"
        #expect(try middle(document("<style>@import url('file://\(css)');</style>\(hidden)")) == 0)
        let sheet = "<?xml-stylesheet type='text/css' href='file://\(css)'?>"
        #expect(try middle(document(hidden, before: sheet)) == 0)
        let entity = "<!DOCTYPE svg [<!ENTITY e SYSTEM 'file://\(picture)'>]>"
        #expect(try (error(document("&e;", before: entity)) != nil) || middle(document("&e;", before: entity)) == 0)
    }

    @Test func `Scripts do not run`() throws {
        let script =
            "<script>document.documentElement.innerHTML = \"\(Self.red)\"</script><script href='data:text/javascript,1'/>"
        #expect(try middle(document(script)) == 0)
        #expect(try middle(document("<rect width='20' height='20' fill='none' onload='this.remove()'/>")) == 0)
    }

    @Test func `An embedded image above a limit is refused before it is decoded`() throws {
        // The header is enough to be refused by.
        let bomb = PNGBomb.make(width: 30_000, height: 30_000).prefix(100)
        let address = "data:image/png;base64,\(base64(bomb))"
        let names = ["href", "xlink:href"]
        for name in names {
            let refused = error(document("<image width='20' height='20' \(name)='\(address)'/>"))
            #expect(refused?.limit?.name == "maximumPixelCount")
        }
        // The same, hidden in the ways that XML has.
        let spaced = " \n\(address.replacing("data:", with: "DaTa:"))"
        let split = address.replacing("data:image", with: "&#100;&#x61;ta:im&a;")
        for (before, value) in [
            ("", spaced), ("<!DOCTYPE svg [<!ENTITY a 'age'>]>", split),
            ("<!DOCTYPE svg [<!ENTITY all '\(address)'><!ENTITY a 'age'>]>", "&all;"),
        ] {
            let refused = error(document("<image width='20' height='20' href='\(value)'/>", before: before))
            #expect(refused?.limit?.name == "maximumPixelCount", "\(before.prefix(60)) \(value.prefix(40))")
        }
        let markup = "<!DOCTYPE svg [<!ENTITY i \"<image href='\(address)'/>\">]>"
        #expect(error(document("<g>&i;</g>", before: markup))?.limit != nil)
        let defaults = "<!DOCTYPE svg [<!ATTLIST image href CDATA '\(address)'>]>"
        #expect(error(document("<image/>", before: defaults))?.limit != nil)
        let inner = document("<image width='20' height='20' href='\(address)'/>")
        #expect(error(document("<image href='data:image/svg+xml;base64,\(base64(inner))'/>"))?.limit != nil)
        let escaped = address.replacing(";base64,", with: ";base64,%20").replacing("A", with: "%41")
        #expect(error(document("<image href='\(escaped)'/>"))?.limit?.name == "maximumPixelCount")
    }

    @Test func `An embedded drawing of a huge size is refused`() {
        let inner = Data("<svg xmlns='http://www.w3.org/2000/svg' width='60000' height='60000'/>".utf8)
        let refused = error(document("<image href='data:image/svg+xml;base64,\(base64(inner))'/>"))
        #expect(refused?.limit?.name == "maximumPixelCount")
        var nested = document(Self.red)
        for _ in 0..<4 {
            nested = document("<image width='20' height='20' href='data:image/svg+xml;base64,\(base64(nested))'/>")
        }
        #expect(error(nested)?.code == .limitExceeded)
    }

    @Test func `Embedded images count together`() throws {
        let picture = base64(try Fixtures.data("PNG/photo-rgb.png"))
        var options = ImageDecodeOptions()
        options.limits.maximumDecodedByteCount = 120 * 90 * 4 * 3
        let image = "<image width='20' height='20' href='data:image/png;base64,\(picture)'/>"
        #expect(error(document(String(repeating: image, count: 3)), options) == nil)
        #expect(error(document(String(repeating: image, count: 4)), options)?.limit?.name == "maximumDecodedByteCount")
    }

    @Test func `An unreadable embedded image is left out`() throws {
        for payload in ["image/png;base64,AAAA", "image/png;base64,%%%", "image/png,", "text/plain,hello", ""] {
            let body = "\(Self.red)<image width='20' height='20' href='data:\(payload)'/>"
            #expect(try middle(document(body)) == 255, "\(payload)")
        }
        let zipped = base64([0x1F, 0x8B, 8, 0, 0, 0, 0, 0])
        #expect(try middle(document("<image href='data:image/svg+xml;base64,\(zipped)'/>")) == 0)
    }

    @Test func `Entities that multiply end in an error`() {
        var entities = "<!ENTITY a0 'ha'>"
        for level in 1...40 { entities += "<!ENTITY a\(level) '&a\(level - 1);&a\(level - 1);'>" }
        let before = "<!DOCTYPE svg [\(entities)]>"
        #expect(error(document("<text>&a40;</text>", before: before)) != nil)
        #expect(error(document("<rect id='&a40;'/>", before: before)) != nil)
        let markup =
            "<!DOCTYPE svg [<!ENTITY b0 '<g/>'>\((1...40).map { "<!ENTITY b\($0) '&b\($0 - 1);&b\($0 - 1);'>" }.joined())]>"
        #expect(error(document("&b40;", before: markup)) != nil)
        let loop = "<!DOCTYPE svg [<!ENTITY x '&y;'><!ENTITY y '&x;'>]>"
        #expect(error(document("<rect id='&x;'/>", before: loop)) != nil)
        let parameter = "<!DOCTYPE svg [<!ENTITY % p '<!ENTITY q \"x\">'> %p;]>"
        #expect(error(document("<rect id='&q;'/>", before: parameter)) != nil)
    }

    @Test func `The nesting of elements is limited`() throws {
        func nested(_ depth: Int) -> Data {
            document(String(repeating: "<g>", count: depth) + Self.red + String(repeating: "</g>", count: depth))
        }
        #expect(try middle(nested(45)) == 255)
        // librsvg 2.60 draws no more than 50.
        let deep = error(nested(200))
        #expect(deep == nil || deep?.code == .badImageData)
        for depth in [256, 1000, 200_000] { #expect(error(nested(depth))?.code == .badImageData) }
    }

    @Test(arguments: [
        "<feTurbulence baseFrequency='.1' numOctaves='9999999'/>",
        "<feTurbulence baseFrequency='.1' numOctaves='1e9'/>",
        "<feTurbulence baseFrequency='.1' numOctaves='/**/9999999'/>",
        "<feConvolveMatrix order='40' kernelMatrix='MATRIX'/>",
        "<feConvolveMatrix order='1 1600' kernelMatrix='MATRIX'/>",
        "<feConvolveMatrix order='40/**/' kernelMatrix='MATRIX'/>", "<feConvolveMatrix kernelMatrix='MATRIX'/>",
        "<feConvolveMatrix order='3' kernelMatrix='PACKED'/>", "<feConvolveMatrix order='20' kernelMatrix='MATRIX'/>",
    ])
    func `Filters that would take forever, or crash the process, end in an error`(filter: String) throws {
        let matrix = String(repeating: "1 ", count: 1600)
        let packed = String(repeating: ".5", count: 800) + String(repeating: "-1", count: 800)
        let filled = filter.replacing("MATRIX", with: matrix).replacing("PACKED", with: packed)
        let body = "<filter id='f' x='0' y='0' width='1' height='1'>\(filled)</filter>"
        let shown = "<g filter='url(#f)'>\(Self.red)</g>"
        _ = error(document(body + shown))
        let entity = "<!DOCTYPE svg [<!ENTITY n '9999999'>]>"
        #expect(error(document("<feTurbulence numOctaves='&n;'/>", before: entity))?.code == .badImageData)
        let defaults = "<!DOCTYPE svg [<!ATTLIST feTurbulence numOctaves CDATA '9999999'>]>"
        #expect(error(document("<feTurbulence/>", before: defaults))?.code == .badImageData)
    }

    @Test func `A panic of librsvg is an error, however often it happens`() throws {
        let fonts = "<text y='10' font-size='1e38'>x</text><text y='10' style='font-size: 2147483648px'>x</text>"
        for _ in 0..<5 {
            // librsvg 2.54 panics; others may draw nothing.
            if let error = error(document(fonts)) { #expect(error.code == .badImageData) }
        }
        #expect(try middle(document(Self.red)) == 255)
    }

    @Test func `Filters of a usual size are unaffected`() throws {
        let matrix = "<feConvolveMatrix order='3' kernelMatrix='0 0 0 0 1 0 0 0 0'/>"
        let body =
            "<filter id='f' x='0' y='0' width='1' height='1'>\(matrix)</filter><g filter='url(#f)'>\(Self.red)</g>"
        #expect(try middle(document(body)) == 255)
    }

    @Test func `Encodings in which markup looks different are refused`() throws {
        for name in ["UTF-7", "utf-16", "EBCDIC-US", "ISO-2022-JP"] {
            let before = "<?xml version='1.0' encoding='\(name)'?>"
            #expect(error(document(Self.red, before: before))?.code == .badImageData)
        }
        for name in ["UTF-8", "iso-8859-1", "windows-1252"] {
            #expect(try middle(document(Self.red, before: "<?xml version='1.0' encoding=\"\(name)\"?>")) == 255)
        }
    }

    @Test func `Compressed documents are refused`() throws {
        let start = Data([0x1F, 0x8B, 8, 0])
        #expect(!coder.canDecode(start))
        #expect(error(start)?.code == .badImageData)
    }

    @Test(arguments: ["shapes", "embedded", "entities", "embedded-svg"])
    func `Damage never traps`(name: String) throws {
        let data = try Fixtures.data("SVG/\(name).svg")
        for damaged in DamagedFiles.truncations(of: data) + DamagedFiles.corruptions(of: data) {
            var options = ImageDecodeOptions()
            options.limits.maximumPixelCount = 1 << 20
            let properties = try? coder.properties(of: damaged, limits: options.limits)
            let image = try? coder.decode(damaged, options: options)
            #expect(image.map { ($0.pixelWidth, $0.pixelHeight) == (properties?.width, properties?.height) } ?? true)
        }
        for part in 1..<15 { #expect(error(data.prefix(data.count * part / 16)) != nil) }
    }
}
