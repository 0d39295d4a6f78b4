import FoundationEssentials
import Glibc
import TestSupport

@testable import WebImage

/// How a decode ended.
enum ProgressiveOutcome {
    case image(Image)
    case failure(WebImageError)

    /// Of the whole bytes at once.
    init(whole data: Data, _ coder: any ImageCoder, _ options: ImageDecodeOptions) {
        do throws(WebImageError) {
            self = .image(try coder.decode(data, options: options))
        } catch { self = .failure(error) }
    }

    /// Of the bytes in pieces, each time at another place in memory.
    ///
    /// - Parameter previews: called with what can be seen after each piece but the last; never called without it.
    init(
        pieces: [Int],
        of data: Data,
        _ coder: any ProgressiveImageCoder,
        _ options: ImageDecodeOptions,
        previews: ((any ProgressiveImageDecoder) throws(WebImageError) -> Void)? = nil,
        change: (_ bytes: inout Data, _ former: Int) -> Void = { _, _ in }
    ) {
        let decoder = coder.makeProgressiveDecoder(options: options)
        do throws(WebImageError) {
            var former = 0
            for count in pieces where count < data.count {
                var bytes = Data([UInt8](data.prefix(count)))
                change(&bytes, former)
                try decoder.update(bytes, isFinished: false)
                try previews?(decoder)
                former = count
            }
            var bytes = Data([UInt8](data))
            change(&bytes, former)
            try decoder.update(bytes, isFinished: true)
            if let image = try decoder.image(maximumPreviewPixelCount: 100) {
                self = .image(image)
            } else {
                self = .failure(WebImageError(.badImageData, "there is no image at the end"))
            }
        } catch { self = .failure(error) }
    }

    /// Whether both are the very same picture, or neither is one.
    func matches(_ other: ProgressiveOutcome) -> Bool {
        switch (self, other) {
        case (.image(let image), .image(let other)): image.isSame(as: other)
        case (.failure, .failure): true
        default: false
        }
    }

    var code: WebImageError.Code? {
        if case .failure(let error) = self { error.code } else { nil }
    }
}

extension Image {
    /// Whether all there is to know of both is the same, to the bit.
    func isSame(as other: Image) -> Bool {
        guard metadata == other.metadata, scale == other.scale, orientation == other.orientation,
            decodeOptions == other.decodeOptions, memoryCost == other.memoryCost, pixelWidth == other.pixelWidth,
            pixelHeight == other.pixelHeight, bitmap.pixelFormat == other.bitmap.pixelFormat,
            bitmap.bytesPerRow == other.bitmap.bytesPerRow
        else { return false }
        return (0..<pixelHeight).allSatisfy { hasSameRow($0, as: other) }
    }

    func hasSameRow(_ row: Int, as other: Image) -> Bool {
        let count = pixelWidth * bitmap.pixelFormat.bytesPerPixel
        return memcmp(bitmap.mutableRow(row), other.bitmap.mutableRow(row), count) == 0
    }

    /// Whether all pixels of a row have this alpha.
    func hasRow(_ row: Int, ofAlpha alpha: UInt8) -> Bool {
        let pixels = bitmap.mutableRow(row).assumingMemoryBound(to: UInt8.self)
        return (0..<pixelWidth).allSatisfy { pixels[4 * $0 + 3] == alpha }
    }

    /// Rows from the top without a transparent pixel.
    var opaqueRowCount: Int { (0..<pixelHeight).prefix { hasRow($0, ofAlpha: 255) }.count }
}

/// The fixtures that tests of progressive decoding go through.
enum ProgressiveFixtures {
    static let jpeg = [
        "baseline-420", "baseline-422", "baseline-444", "gray", "cmyk", "cmyk-icc", "ycck", "icc-wide", "icc-gray",
        "icc-long",
        "orientation-3", "orientation-6", "restart", "rgb-kept", "progressive", "many-scans", "non-interleaved",
        "arithmetic",
    ].map { "JPEG/\($0).jpg" }
    static let png =
        [
            "photo-rgb", "photo-rgba", "photo-gray16", "photo-interlaced", "type0-1bit", "type0-4bit-trns",
            "type0-16bit-interlaced",
            "type2-16bit-trns", "type2-8bit-interlaced", "type3-2bit-interlaced", "type3-8bit-trns", "type4-8bit",
            "type4-16bit-interlaced", "type6-16bit", "type6-8bit-interlaced", "tiny-1x1", "tiny-1x9", "tiny-2x3",
            "tiny-5x1",
            "orientation-6", "orientation-after-pixels", "icc-wide", "icc-gray-alpha", "gamma-1.0", "chrm-adobe",
            "animated",
            "animated-default-image", "many-rows", "long-rows", "big-compressed-text",
        ]
        .map { "PNG/\($0).png" }
    static let webp =
        Fixtures.names(in: "WebP", ending: "webp").map { "WebP/\($0).webp" }
        + ["webp-0", "webp-1", "webp-soft-4"].map { "Animation/\($0).webp" }
    static let gif =
        Fixtures.names(in: "GIF", ending: "gif").filter { !["no-frame", "no-palette", "empty-frame"].contains($0) }.map
    {
        "GIF/\($0).gif"
    }
        + ["random-0", "small-first-frame"].map { "Animation/\($0).gif" }
    static let all = jpeg + png + webp + gif

    /// The coder of a fixture's format.
    static func coder(_ name: String) -> any ProgressiveImageCoder {
        switch name.split(separator: ".").last {
        case "jpg": JPEGCoder()
        case "png": PNGCoder()
        case "webp": WebPCoder()
        default: GIFCoder()
        }
    }

    /// Where to cut a file of so many bytes: in pieces of up to a few bytes, or up to many.
    static func pieces(of count: Int, _ random: inout SeededGenerator) -> [Int] {
        let most = [count, count / 4, 2000, 200][Int(random.next() % 4)]
        var pieces: [Int] = []
        var position = 0
        while position < count {
            position += 1 + Int(random.next() % UInt64(max(most, 1)))
            pieces.append(min(position, count))
        }
        return pieces
    }
}
