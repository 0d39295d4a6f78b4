import FoundationEssentials
import TestSupport
import Testing
import WebImageModel

@Suite struct ImageFormatTests {
    private func format(_ bytes: [UInt8]) -> ImageFormat { ImageFormat(detecting: Data(bytes)) }
    private func format(_ text: String) -> ImageFormat { ImageFormat(detecting: Data(text.utf8)) }

    private func fileType(_ major: String, _ compatible: [String] = [], size: Int? = nil) -> ImageFormat {
        let body = Array("ftyp".utf8) + Array(major.utf8) + [0, 0, 0, 0] + compatible.flatMap { Array($0.utf8) }
        let length = size ?? body.count + 4
        let header = (0..<4).map { UInt8(truncatingIfNeeded: length >> (24 - 8 * $0)) }
        return format(header + body)
    }

    private static let signatures: [(ImageFormat, [UInt8])] = [
        (.jpeg, [0xFF, 0xD8, 0xFF]),
        (.png, [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]),
        (.gif, Array("GIF87a".utf8)), (.gif, Array("GIF89a".utf8)),
        (.webp, Array("RIFF\u{1}\u{2}\u{3}\u{4}WEBP".utf8)),
        (.bmp, Array("BM".utf8) + Array(repeating: 0, count: 12) + [40, 0, 0, 0]),
        (.tiff, [0x49, 0x49, 0x2A, 0]), (.tiff, [0x4D, 0x4D, 0, 0x2A]),
        (.tiff, [0x49, 0x49, 0x2B, 0, 8, 0, 0, 0]), (.tiff, [0x4D, 0x4D, 0, 0x2B, 0, 8, 0, 0]),
        (.jpegXL, [0xFF, 0x0A]), (.jpegXL, [0, 0, 0, 12, 0x4A, 0x58, 0x4C, 0x20, 13, 10, 0x87, 10]),
        (.pdf, Array("%PDF-".utf8)), (.raw, Array("FUJIFILMCCD-RAW ".utf8)),
        (.ico, [0, 0, 1, 0, 1, 0, 16, 16, 0, 0, 1, 0, 32, 0, 0, 4, 0, 0, 22, 0, 0, 0]),
        (.ico, [0, 0, 2, 0, 1, 0, 16, 16, 0, 0, 1, 0, 32, 0, 0, 4, 0, 0, 22, 0, 0, 0]),
    ]

    @Test(arguments: signatures)
    func `A whole signature names the format and anything less does not`(expected: ImageFormat, bytes: [UInt8]) {
        #expect(format(bytes) == expected)
        #expect(format(bytes + Array(repeating: 0x20, count: 40)) == expected)
        for length in 0..<bytes.count { #expect(format(Array(bytes.prefix(length))) == .undefined) }
    }

    @Test(arguments: signatures)
    func `A signature with a wrong byte is not the format`(expected: ImageFormat, bytes: [UInt8]) {
        guard bytes.count < 18, expected != .webp else { return }
        for index in bytes.indices where !(expected == .gif && index == 4) {
            var wrong = bytes + Array(repeating: 0, count: 20)
            wrong[index] ^= 0x55
            #expect(format(wrong) != expected, "byte \(index)")
        }
    }

    @Test func `The header of PDF may follow other bytes, on a line of its own`() {
        let header = Array("%PDF-1.4\n".utf8)
        for count in [1, 40, 1023] {
            #expect(format(Array(repeating: 0x20, count: count) + [0x0A] + header) == .pdf, "\(count)")
            #expect(format(Array(repeating: 0x25, count: count) + header) == .undefined, "\(count)")
        }
        #expect(format(Array(repeating: 0x20, count: 1024) + [0x0A] + header) == .undefined)
        #expect(format(Array("see\n%PDF-".utf8)) == .undefined)
        #expect(format(Array("\u{FEFF}\r%PDF-2.0".utf8)) == .pdf)
        #expect(format([0xFF, 0xD8, 0xFF, 0x0A] + header) == .jpeg)
    }

    /// A TIFF structure of one directory with a number of 16 bits for each tag, and the directories after it.
    private func tiff(
        _ entries: [(Int, Int)],
        start: [UInt8] = [0x49, 0x49, 0x2A, 0],
        next: Int = 0,
        after: [UInt8] = []
    ) -> [UInt8] {
        func bytes(_ value: Int, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        let directory =
            bytes(entries.count, 2) + entries.flatMap { bytes($0.0, 2) + bytes(4, 2) + bytes(1, 4) + bytes($0.1, 4) }
        return start + bytes(8, 4) + directory + bytes(next, 4) + after
    }

    @Test func `Raw files of cameras are distinguished from TIFF by their directories`() {
        #expect(format(tiff([(256, 9), (262, 2)])) == .tiff)
        #expect(format(tiff([(259, 7), (262, 32_803)])) == .raw && format(tiff([(262, 34_892)])) == .raw)
        #expect(format(tiff([(259, 34_713)])) == .raw && format(tiff([(50_706, 1)])) == .raw)
        #expect(format(tiff([(259, 65_535), (262, 2)])) == .tiff)
        // In the second directory, and in one below.
        let sensor = Array(tiff([(262, 32_803)]).dropFirst(8))
        #expect(format(tiff([(262, 2)], next: 26, after: sensor)) == .raw)
        #expect(format(tiff([(330, 26)], after: sensor)) == .raw)
        #expect(format(tiff([(330, 8)], next: 8)) == .tiff, "a loop ends")
        #expect(format(tiff([(262, 2)], next: 1 << 30)) == .tiff)
        let cr2: [UInt8] = [0x49, 0x49, 0x2A, 0, 16, 0, 0, 0, 0x43, 0x52, 2, 0]
        #expect(format(cr2) == .raw && format(Array(cr2.dropLast(2))) == .tiff)
    }

    @Test func `Variants of TIFF that only cameras write are raw, if they have a directory`() {
        for start: [UInt8] in [[0x49, 0x49, 0x52, 0x4F], [0x49, 0x49, 0x52, 0x53], [0x49, 0x49, 0x55, 0]] {
            let file = tiff([(256, 9)], start: start)
            #expect(format(file) == .raw)
            for length in 0..<22 { #expect(format(Array(file.prefix(length))) == .undefined, "\(length)") }
        }
        #expect(format("IIRO is an abbreviation, of which there are many") == .undefined)
        #expect(format("MMOR and nothing else in this text but letters") == .undefined)
        #expect(fileType("crx ", ["crx ", "isom"]) == .raw)
    }

    @Test func `Directories of TIFF are read within limits`() throws {
        let bytes = tiff([(256, 9), (274, 6)])
        try bytes.withUnsafeBytes { bytes in
            let structure = try #require(TIFFStructure(bytes))
            let directory = try #require(structure.directory(at: structure.firstDirectory))
            #expect(structure.version == 42 && structure.value(274, in: directory) == 6 && directory.next == 0)
            #expect(structure.value(257, in: directory) == nil && structure.directory(at: 4) == nil)
            #expect(structure.directory(at: bytes.count) == nil && structure.directories().count == 1)
        }
        // Each directory is followed by itself and by many others.
        let many = tiff((0..<600).map { ($0, 8) }, next: 8)
        many.withUnsafeBytes { bytes in
            let structure = TIFFStructure(bytes)
            #expect(structure?.directories().count == 1 && structure?.directory(at: 8)?.next == 0)
            #expect(structure?.directory(at: 8).flatMap { structure?.entry(511, in: $0) } != nil)
            #expect(structure?.directory(at: 8).flatMap { structure?.entry(512, in: $0) } == nil)
        }
        #expect(Array(repeating: 0x49, count: 7).withUnsafeBytes { TIFFStructure($0) == nil })
    }

    @Test func `Brands distinguish HEIC, HEIF and AVIF`() {
        for brand in ["heic", "heix", "hevc", "hevx", "heim", "heis"] { #expect(fileType(brand) == .heic) }
        for brand in ["mif1", "msf1"] { #expect(fileType(brand) == .heif) }
        for brand in ["avif", "avis"] { #expect(fileType(brand) == .avif) }
        #expect(fileType("mif1", ["mif1", "avif", "miaf"]) == .avif)
        #expect(fileType("mif1", ["mif1", "heic"]) == .heic)
        #expect(fileType("mif1", ["miaf"]) == .heif)
        #expect(fileType("avif", ["mif1", "heic"]) == .avif)
        #expect(fileType("miaf", ["MA1B", "mif1"]) == .heif)
        #expect(fileType("none", ["nor", "this"]) == .undefined)
    }

    @Test func `Brands outside the box or the data do not count`() {
        #expect(fileType("isom", ["iso2", "avif"], size: 20) == .mp4)
        #expect(fileType("some", ["some", "avif"], size: 20) == .undefined)
        #expect(fileType("isom", ["iso2", "avif"], size: 1 << 30) == .avif)
        #expect(fileType("isom", ["avif"], size: 0) == .avif)
        #expect(fileType("avif", size: 3) == .undefined)
        #expect(format([0, 0, 0, 0x20] + Array("ftypsome".utf8) + [0, 0, 0, 0] + Array("avi".utf8)) == .undefined)
    }

    @Test func `Brands distinguish videos, and images and audio are none`() {
        for brand in ["isom", "iso2", "iso6", "mp41", "mp42", "avc1", "M4V ", "3gp4", "3g2a", "dash", "MSNV", "f4v "] {
            #expect(fileType(brand) == .mp4, "\(brand)")
        }
        #expect(fileType("qt  ", ["qt  "]) == .quickTime)
        #expect(fileType("none", ["qt  "]) == .quickTime)
        #expect(fileType("heic", ["mif1", "isom", "mp42"]) == .heic)
        #expect(fileType("mif1", ["isom"]) == .heif)
        #expect(fileType("isom", ["avif", "mp42"]) == .avif)
        #expect(fileType("avis", ["avif", "msf1", "iso8", "isom"]) == .avif)
        #expect(fileType("M4A ", ["M4A ", "mp42", "isom"]) == .undefined)
    }

    @Test func `Old QuickTime movies have no brands`() {
        func atoms(_ size: UInt8, _ first: String, _ rest: String = "mvhd") -> ImageFormat {
            format([0, 0, 0, size] + Array(first.utf8) + [0, 0, 0, 99] + Array(rest.utf8))
        }
        #expect(atoms(200, "moov") == .quickTime && atoms(200, "mdat", "\u{1}\u{2}\u{3}\u{4}") == .quickTime)
        #expect(atoms(8, "wide", "mdat") == .quickTime && atoms(1, "mdat", "abcd") == .quickTime)
        #expect(atoms(9, "wide", "mdat") == .undefined && atoms(200, "moov", "text") == .undefined)
        #expect(atoms(4, "mdat") == .undefined && atoms(200, "free") == .undefined)
    }

    @Test func `The document type distinguishes WebM and Matroska`() {
        func ebml(_ type: String, _ before: [UInt8] = [0x42, 0x86, 0x81, 1]) -> ImageFormat {
            let element = [0x42, 0x82, 0x80 | UInt8(type.utf8.count)] + Array(type.utf8)
            let header = before + element + [0x42, 0x87, 0x81, 4]
            return format([0x1A, 0x45, 0xDF, 0xA3, 0x80 | UInt8(header.count)] + header + [0x18, 0x53, 0x80, 0x67])
        }
        #expect(ebml("webm") == .webM && ebml("matroska") == .matroska && ebml("webm\0") == .webM)
        #expect(ebml("other") == .undefined && ebml("webm", [0xEC, 0x83, 1, 2, 3]) == .webM)
        #expect(ebml("webm", [0x42, 0x86, 0xFF, 1]) == .undefined)
        #expect(format([0x1A, 0x45, 0xDF, 0xA3]) == .undefined)
        #expect(format([0x1A, 0x45, 0xDF, 0xA3, 1, 255, 255, 255, 255, 255, 255, 255, 0x42, 0x82]) == .undefined)
    }

    @Test(arguments: [
        "<svg/>", "<svg>", "<svg xmlns='a'>", "\u{FEFF}<svg>", " \n\t<svg\n>",
        "<?xml version=\"1.0\"?><svg>", "<?xml version=\"1.0\"?>\n<!-- a > b -->\n<!-- <html> --><svg >",
        "<!DOCTYPE svg PUBLIC \"-//W3C//DTD SVG 1.1//EN\" \"http://www.w3.org/svg11.dtd\"><svg>",
        "<!DOCTYPE svg [ <!ENTITY a \"<b>\"> ]><svg>", "<svg:svg xmlns:svg='a'/>",
        "<!--" + String(repeating: "x", count: 70_000) + "--><svg></svg>\n",
    ])
    func `SVG is recognized by its root element, or by its end if the root is out of range`(text: String) {
        #expect(format(text) == .svg)
    }

    @Test(arguments: [
        "", "<", "<sv", "<svgx>", "<html><svg></svg></html>", "<!DOCTYPE html><html></svg>", "svg", "text </svg>",
        "<?xml", "<!-- <svg> --", "<!DOCTYPE svg", "<rss></rss>", "<svx></svg>",
        "<!--" + String(repeating: "x", count: 70_000) + "--><svg></svg><p>",
    ])
    func `Other texts are not SVG`(text: String) { #expect(format(text) == .undefined) }

    @Test func `A slice of data is read from its own start`() {
        let data = Data([0, 0, 0xFF, 0xD8, 0xFF, 0xE0])
        #expect(ImageFormat(detecting: data[2...]) == .jpeg)
        #expect(ImageFormat(detecting: data[2..<2]) == .undefined)
    }

    @Test func `Random bytes never trap`() {
        var random = SeededGenerator(seed: 1)
        let starts: [[UInt8]] =
            Self.signatures.map { $0.1 } + [Array("<!DOCTYPE [".utf8), [0, 0, 0, 24] + Array("ftyp".utf8)]
        for _ in 0..<2000 {
            let start = starts.randomElement(using: &random) ?? []
            let tail = (0..<Int.random(in: 0..<60, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random)
            }
            _ = format(Array(start.prefix(Int.random(in: 0...start.count, using: &random))) + tail)
        }
    }

    @Test(arguments: [
        (ImageFormat.jpeg, "public.jpeg", "jpg", "image/jpeg", "JPEG"), (.png, "public.png", "png", "image/png", "PNG"),
        (.gif, "com.compuserve.gif", "gif", "image/gif", "GIF"), (.tiff, "public.tiff", "tiff", "image/tiff", "TIFF"),
        (.webp, "org.webmproject.webp", "webp", "image/webp", "WebP"),
        (.heic, "public.heic", "heic", "image/heic", "HEIC"),
        (.heif, "public.heif", "heif", "image/heif", "HEIF"), (.pdf, "com.adobe.pdf", "pdf", "application/pdf", "PDF"),
        (.svg, "public.svg-image", "svg", "image/svg+xml", "SVG"),
        (.bmp, "com.microsoft.bmp", "bmp", "image/bmp", "BMP"),
        (.avif, "public.avif", "avif", "image/avif", "AVIF"),
        (.jpegXL, "public.jpeg-xl", "jxl", "image/jxl", "JPEG XL"),
        (.ico, "com.microsoft.ico", "ico", "image/vnd.microsoft.icon", "ICO"),
        (.mp4, "public.mpeg-4", "mp4", "video/mp4", "MP4"),
        (.quickTime, "com.apple.quicktime-movie", "mov", "video/quicktime", "QuickTime"),
        (.webM, "org.webmproject.webm", "webm", "video/webm", "WebM"),
        (.matroska, "org.matroska.mkv", "mkv", "video/matroska", "Matroska"),
    ])
    func `A name gives its format, and a format its name`(
        format: ImageFormat,
        type: String,
        ext: String,
        mime: String,
        name: String
    ) {
        #expect(format.typeIdentifier == type && ImageFormat(typeIdentifier: type) == format)
        #expect(format.fileExtension == ext && ImageFormat(fileExtension: ext) == format)
        #expect(format.mimeType == mime && ImageFormat(mimeType: mime) == format)
        #expect(format.description == name)
    }

    @Test func `Names are matched in any case and with surrounding text`() {
        #expect(ImageFormat(fileExtension: ".JPEG") == .jpeg)
        #expect(ImageFormat(fileExtension: "apng") == .png)
        #expect(ImageFormat(fileExtension: "") == .undefined)
        #expect(ImageFormat(mimeType: " Image/PNG ; charset=utf-8") == .png)
        #expect(ImageFormat(mimeType: "image/jpg") == .jpeg)
        #expect(ImageFormat(mimeType: "text/html") == .undefined)
        #expect(ImageFormat(typeIdentifier: "com.nikon.raw-image") == .raw)
        #expect(ImageFormat(typeIdentifier: "com.hasselblad.3fr-raw-image") == .raw)
        #expect(ImageFormat(typeIdentifier: "public.image") == .undefined)
        #expect(ImageFormat.undefined.typeIdentifier == "public.image")
        #expect(ImageFormat.undefined.fileExtension == nil)
        #expect(ImageFormat.undefined.mimeType == "application/octet-stream")
        #expect(ImageFormat(rawValue: 1000).description == "format 1000")
        #expect(ImageFormat.raw.typeIdentifier == "public.camera-raw-image")
    }

    @Test func `The fixtures of each format are recognized`() throws {
        for (directory, ending, expected) in [
            ("PNG", "png", ImageFormat.png), ("GIF", "gif", .gif), ("WebP", "webp", .webp),
        ] {
            let names = Fixtures.names(in: directory, ending: ending)
            #expect(!names.isEmpty)
            for name in names {
                #expect(ImageFormat(detecting: try Fixtures.data("\(directory)/\(name).\(ending)")) == expected)
            }
        }
    }
}
