import FoundationEssentials
import TestSupport
import WebImage
import WebImageFormats
import WebImageRAW

@testable import WebImageAVIF
@testable import WebImageCodecs
@testable import WebImageHEIF
@testable import WebImagePDFDecoder
@testable import WebImageSVG
@testable import WebImageVideoDecoder

/// The parsers of files that run before a C library.
extension FuzzTarget {
    static let formats: [FuzzTarget] = [
        FuzzTarget(
            name: "format",
            summary: "format detection; all coders behind it, in pieces too",
            longestInput: 8 << 10,
            dictionary: "formats",
            fixtures: allFixtures,
            check: checkFormat
        ),
        FuzzTarget(
            name: "iso-boxes",
            summary: "boxes, items, tracks and sequence headers of HEIF and AVIF",
            longestInput: 8 << 10,
            dictionary: "iso",
            fixtures: [
                Fixtures(directory: "AVIF", suffix: "avif"), Fixtures(directory: "HEIF", suffix: "heic"),
                Fixtures(directory: "CodedSizes", suffix: "heic"), Fixtures(directory: "HEIF", suffix: "heics"),
            ],
            check: checkBoxes
        ),
        FuzzTarget(
            name: "svg-screening",
            summary: "markup, style sheets and addresses of SVG, without drawing",
            longestInput: 16 << 10,
            dictionary: "svg",
            fixtures: [Fixtures(directory: "SVG", suffix: "svg")],
            check: checkScreening
        ),
        FuzzTarget(
            name: "exif",
            summary: "the orientation in an EXIF block",
            dictionary: "tiff",
            fixtures: [Fixtures(directory: "TIFF", suffix: "tiff")],
            seeds: { EXIFThumbnail.block(Data([1, 2, 3])).map { [Data($0.dropFirst(6))] } ?? [] },
            check: checkOrientation
        ),
        FuzzTarget(
            name: "thumbhash",
            summary: "ThumbHash: bytes, Base64, image",
            longestInput: 128,
            seeds: {
                [
                    Data([0x1A, 0x08, 0x2A, 0x0D, 0x82]), Data(repeating: 0xFF, count: 40),
                    Data("3OcRJYB4d3h/iIeHeEh3eIhw+j3A".utf8),
                ]
            },
            check: checkThumbHash
        ),
        FuzzTarget(
            name: "blurhash",
            summary: "BlurHash: string, image",
            longestInput: 256,
            seeds: { [Data("LEHV6nWB2yk8pyo0adR*.7kCMdnj".utf8), Data("00TSUA".utf8)] },
            check: checkBlurHash
        ),
    ]

    private static let allFixtures: [Fixtures] =
        pictures.flatMap { target in target.fixtures.map { Fixtures(directory: $0.directory, suffix: $0.suffix) } }

    /// Workers are not searched.
    private static let manager: ImageCodersManager = {
        let apart: [any ImageCoder] = [
            SVGCoder(maximumInProcessByteCount: .max), PopplerCoder(), RAWCoder(), FrameCoder(),
        ]
        let formats = WebImageFormats.coders.filter { !($0 is IsolatedImageCoder) }
        return ImageCodersManager(coders: ImageCodersManager.builtIn + formats + apart)
    }()

    private static func checkFormat(_ data: Data) throws(FuzzFinding) {
        let format = ImageFormat(detecting: data)
        let alone = Data([0]) + data
        try must(ImageFormat(detecting: alone.dropFirst()) == format, "the format depends on where the bytes lie")
        let takers = manager.coders.filter { $0.canDecode(data) }
        try must(takers.count <= 1, "\(takers.count) coders take the same bytes")
        try must(takers.isEmpty || format != .undefined, "a coder accepts data without a format")
        let text = data.prefix(200).text
        for named in [ImageFormat(mimeType: text), ImageFormat(fileExtension: text), ImageFormat(typeIdentifier: text)]
        {
            guard named != .undefined, named != .raw else { continue }
            try must(ImageFormat(mimeType: named.mimeType) == named, "a format's own type is of another one")
        }
        var check = ImageCheck(manager, data)
        try check.run()
    }

    private static func checkBoxes(_ data: Data) throws(FuzzFinding) {
        let types: Set<UInt32> = [fourCC("hvc1"), fourCC("hev1"), fourCC("av01"), fourCC("grid"), fourCC("iovl")]
        let result = data.withUnsafeBytes { bytes -> Result<Void, FuzzFinding> in
            do throws(FuzzFinding) {
                let reader = ByteReader(bytes)
                var left = 2000
                try walk(ISOBox.boxes(in: reader, 0..<bytes.count), reader, 0..<bytes.count, depth: 0, &left)
                if let pictures = try? ISOImages(reader, types: types) { try check(pictures, reader) }
                _ = try? HEIFImages(bytes, ImageCheck.limits)
                let times = AVIFTimetable(reader, frameCount: 20)
                try must(times.durations.count == 20 && times.loopCount >= 0, "not a time for each frame")
                try must(times.durations.allSatisfy { $0.isFinite && $0 > 0 }, "a frame has no time")
                return .success(())
            } catch { return .failure(error) }
        }
        try result.get()
        if let longer = try? AVIFLoops.set(3, in: data) {
            try must(longer.count >= data.count, "a file with more boxes is shorter")
        }
    }

    private static func walk(
        _ boxes: [ISOBox],
        _ reader: ByteReader,
        _ part: Range<Int>,
        depth: Int,
        _ left: inout Int
    ) throws(FuzzFinding) {
        var end = part.lowerBound
        for box in boxes {
            let isInside = box.content.lowerBound >= end + 8 && box.content.upperBound <= part.upperBound
            try must(isInside, "a box at \(box.content) lies outside \(part), or over another one")
            end = box.content.upperBound
            left -= 1
            guard left > 0, depth < 8 else { continue }
            try walk(box.children(in: reader), reader, box.content, depth: depth + 1, &left)
        }
    }

    private static func check(_ pictures: ISOImages, _ reader: ByteReader) throws(FuzzFinding) {
        var byteCount = 0
        for sample in pictures.samples {
            for range in sample.ranges {
                try must(range.lowerBound >= 0 && range.upperBound <= reader.count, "an image lies outside the file")
                byteCount += range.count
            }
            var found: [BitstreamHeader] = []
            try? pictures.withBytes(of: sample) {
                found = AV1Sequence.headers(in: $0) + HEVCSize.headers(inUnits: $0)
            }
            try must(found.allSatisfy { $0.width >= 0 && $0.height >= 0 }, "an image has a negative size")
            try must(found.allSatisfy { $0.planeByteCount >= 0 }, "planes take less than nothing")
        }
        try must(byteCount <= 2 * reader.count, "images overlap")
        for property in pictures.properties { _ = HEIFImages.headers(in: property, reader) }
    }

    private static func checkScreening(_ data: Data) throws(FuzzFinding) {
        guard let (screened, _) = try? SVGScreening.screened(data, limits: ImageCheck.limits) else { return }
        try must(screened.count == data.count, "removed content is deleted instead of overwritten")
        try must(ImageFormat(detecting: screened) == .svg, "a screened document is not a document")
        // A screened document passes screening unchanged.
        guard let (again, _) = try? SVGScreening.screened(screened, limits: ImageCheck.limits) else {
            throw FuzzFinding("a screened document is refused")
        }
        try must(again == screened, "a screened document is changed once more")
    }

    private static func checkOrientation(_ data: Data) throws(FuzzFinding) {
        let orientation = data.withUnsafeBytes { EXIFOrientation.read(tiff: $0) }
        let longer = Data(data + Data(repeating: 0xFF, count: 64))
        let other = longer.withUnsafeBytes { EXIFOrientation.read(tiff: $0) }
        try must(orientation == .up || other == orientation, "an orientation is lost when bytes follow")
        let stated = data.withUnsafeBytes { XMPOrientation.read(packet: $0) }
        try must(
            longer.withUnsafeBytes { XMPOrientation.read(packet: $0) } == stated,
            "XMP means something else when bytes follow"
        )
    }

    private static func checkThumbHash(_ data: Data) throws(FuzzFinding) {
        for hash in [ThumbHash(bytes: data), ThumbHash(base64: data.text)] {
            guard let hash else { continue }
            try must(ThumbHash(base64: hash.base64) == hash, "a hash changes in Base64")
            try must(hash.approximateAspectRatio.isFinite && hash.approximateAspectRatio > 0, "a hash has no shape")
            let color = hash.averageColor
            let parts = [color.red, color.green, color.blue, color.alpha]
            try must(parts.allSatisfy { (0...1).contains($0) }, "a mean colour is none: \(color)")
            guard let image = try? hash.makeImage() else { throw FuzzFinding("a hash makes no image") }
            try must(max(image.pixelWidth, image.pixelHeight) == 32, "the longer side is not 32")
            if let complaint = image.bitmap.complaint { throw FuzzFinding(complaint) }
        }
    }

    private static func checkBlurHash(_ data: Data) throws(FuzzFinding) {
        guard let hash = try? BlurHash(data.text) else { return }
        try must((1...9).contains(hash.xComponents) && (1...9).contains(hash.yComponents), "a hash has no components")
        for punch in [1, 0, -1, .infinity, .nan] {
            guard let image = try? hash.makeImage(width: 5, height: 3, punch: punch) else {
                throw FuzzFinding("a hash makes no image")
            }
            if let complaint = image.bitmap.complaint { throw FuzzFinding(complaint) }
        }
    }
}
