import CTestSupport
package import FoundationEssentials
import Glibc
package import WebImageModel

/// The result of a decode.
package enum ProgressiveOutcome {
    case image(Image)
    case failure(WebImageError)

    /// Of the whole bytes at once.
    package init(whole data: Data, _ coder: any ImageCoder, _ options: ImageDecodeOptions) {
        do throws(WebImageError) {
            self = .image(try coder.decode(data, options: options))
        } catch { self = .failure(error) }
    }

    /// Of the bytes in pieces, each time at another place in memory.
    ///
    /// - Parameter previews: Called with the preview after each piece but the last; never called without one.
    package init(
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

    /// Returns whether both are the very same image, or neither is one.
    package func matches(_ other: ProgressiveOutcome) -> Bool {
        switch (self, other) {
        case (.image(let image), .image(let other)): image.isSame(as: other)
        case (.failure, .failure): true
        default: false
        }
    }

    /// Returns where to cut a file of this many bytes: in pieces of up to a few bytes, or up to many.
    package static func pieces(of count: Int, _ random: inout SeededGenerator) -> [Int] {
        let most = [count, count / 4, 2000, 200][Int(random.next() % 4)]
        var pieces: [Int] = []
        var position = 0
        while position < count {
            position += 1 + Int(random.next() % UInt64(max(most, 1)))
            pieces.append(min(position, count))
        }
        return pieces
    }

    package var code: WebImageError.Code? {
        if case .failure(let error) = self { error.code } else { nil }
    }
}

extension Image {
    /// Returns whether both are equal in all properties, to the bit.
    package func isSame(as other: Image) -> Bool {
        guard metadata == other.metadata, scale == other.scale, orientation == other.orientation,
            decodeOptions == other.decodeOptions, memoryCost == other.memoryCost, pixelWidth == other.pixelWidth,
            pixelHeight == other.pixelHeight, bitmap.pixelFormat == other.bitmap.pixelFormat,
            bitmap.bytesPerRow == other.bitmap.bytesPerRow
        else { return false }
        return (0..<pixelHeight).allSatisfy { hasSameRow($0, as: other) }
    }

    package func hasSameRow(_ row: Int, as other: Image) -> Bool {
        let count = pixelWidth * bitmap.pixelFormat.bytesPerPixel
        return memcmp(bitmap.mutableRow(row), other.bitmap.mutableRow(row), count) == 0
    }

    /// Returns whether all pixels of a row have this alpha.
    package func hasRow(_ row: Int, ofAlpha alpha: UInt8) -> Bool {
        ctest_have_alpha(bitmap.mutableRow(row).assumingMemoryBound(to: UInt8.self), pixelWidth, alpha) != 0
    }

    /// Rows from the top without a transparent pixel.
    package var opaqueRowCount: Int { (0..<pixelHeight).prefix { hasRow($0, ofAlpha: 255) }.count }
}
