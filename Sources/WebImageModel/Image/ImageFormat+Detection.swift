public import FoundationEssentials
import Glibc

extension ImageFormat {
    /// Detects the format from the first bytes (for SVG also the last); ``undefined`` if they match none.
    ///
    /// A format matches only with its whole signature, so that a text that happens to start with the same letter is not taken for
    /// an image. Copies nothing and reads a few bytes; for SVG, whose root element may follow a long comment, at most 64 KiB, and
    /// for PDF, whose header may follow other bytes, 1 KiB. Raw files of cameras that begin like TIFF are distinguished by their
    /// directories, of which at most 16 are read, anywhere in the data: with only the first bytes they can be ``tiff``.
    public init(detecting data: Data) {
        self = data.withUnsafeBytes { ImageFormat(detecting: $0) }
    }

    /// Detects the format of bytes in memory.
    package init(detecting bytes: UnsafeRawBufferPointer) {
        guard let first = bytes.first else {
            self = .undefined
            return
        }
        let format: ImageFormat =
            switch first {
            case 0xFF: Self.startingWithFF(bytes)
            case 0x89 where bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]): .png
            case UInt8(ascii: "G") where bytes.starts(with: "GIF87a".utf8) || bytes.starts(with: "GIF89a".utf8): .gif
            case UInt8(ascii: "R") where Self.isWebP(bytes): .webp
            case UInt8(ascii: "B") where Self.isWindowsBitmap(bytes): .bmp
            case UInt8(ascii: "I") where Self.isTIFF(bytes), UInt8(ascii: "M") where Self.isTIFF(bytes):
                CameraRawSniffer.isRaw(tiff: bytes) ? .raw : .tiff
            case UInt8(ascii: "I") where CameraRawSniffer.isRawVariant(ofTIFF: bytes),
                UInt8(ascii: "M") where CameraRawSniffer.isRawVariant(ofTIFF: bytes):
                .raw
            case UInt8(ascii: "F") where bytes.starts(with: "FUJIFILMCCD-RAW ".utf8): .raw
            case UInt8(ascii: "%") where bytes.starts(with: "%PDF-".utf8): .pdf
            case 0x00: Self.startingWithZero(bytes)
            case 0x1A where bytes.starts(with: [0x1A, 0x45, 0xDF, 0xA3]): VideoSniffer.matroska(bytes)
            default: SVGSniffer.isSVG(bytes) ? .svg : Self.isoBaseMedia(bytes)
            }
        self = format == .undefined && Self.isPDFAfterOtherBytes(bytes) ? .pdf : format
    }

    /// The largest offset of the header of PDF: programs read documents that other bytes precede.
    private static let pdfHeaderReach = 1024
    /// The length of "%PDF-1." of the header.
    private static let pdfHeaderLength = 7
    /// The number of bytes in which the header of PDF is searched.
    package static let pdfHeaderEnd = pdfHeaderReach + pdfHeaderLength

    private static func isPDFAfterOtherBytes(_ bytes: UnsafeRawBufferPointer) -> Bool {
        // In a document the header begins a line; in other text that mentions it, it seldom does.
        guard let base = bytes.baseAddress else { return false }
        let end = min(bytes.count, pdfHeaderEnd)
        var start = 0
        while let found = memchr(base + start, 0x25, end - start) {
            start = UnsafeRawPointer(found) - base
            let isLineStart = start == 0 || bytes[start - 1] == 0x0A || bytes[start - 1] == 0x0D
            guard end - start >= pdfHeaderLength else { return false }
            // A digit and a dot of the version follow.
            let isHeader = memcmp(found, "%PDF-", 5) == 0 && bytes[start + 6] == UInt8(ascii: ".")
            if isLineStart, isHeader { return true }
            start += 1
        }
        return false
    }

    private static func startingWithFF(_ bytes: UnsafeRawBufferPointer) -> ImageFormat {
        if bytes.starts(with: [0xFF, 0xD8, 0xFF]) { return .jpeg }
        return bytes.starts(with: [0xFF, 0x0A]) ? .jpegXL : .undefined
    }

    private static func isWebP(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.count >= 12 && bytes.starts(with: "RIFF".utf8) && bytes[8..<12].elementsEqual("WEBP".utf8)
    }

    /// Many texts begin with `BM`, so the size of the second header must be a valid one.
    private static func isWindowsBitmap(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count >= 18, bytes.starts(with: "BM".utf8) else { return false }
        let headerSize = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 14, as: UInt32.self))
        return [12, 16, 40, 52, 56, 64, 108, 124].contains(headerSize)
    }

    private static func isTIFF(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.starts(with: [0x49, 0x49, 0x2A, 0x00]) || bytes.starts(with: [0x4D, 0x4D, 0x00, 0x2A])
            || bytes.starts(with: [0x49, 0x49, 0x2B, 0x00, 0x08, 0x00, 0x00, 0x00])
            || bytes.starts(with: [0x4D, 0x4D, 0x00, 0x2B, 0x00, 0x08, 0x00, 0x00])
    }

    private static func startingWithZero(_ bytes: UnsafeRawBufferPointer) -> ImageFormat {
        let jpegXLContainer: [UInt8] = [0, 0, 0, 0x0C, 0x4A, 0x58, 0x4C, 0x20, 0x0D, 0x0A, 0x87, 0x0A]
        if bytes.starts(with: jpegXLContainer) { return .jpegXL }
        return isIcon(bytes) ? .ico : isoBaseMedia(bytes)
    }

    /// Returns whether the data is an icon or cursor directory with at least one entry, whose reserved byte is 0.
    private static func isIcon(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count >= 22 else { return false }
        guard bytes.starts(with: [0, 0, 1, 0]) || bytes.starts(with: [0, 0, 2, 0]) else { return false }
        let count = UInt16(littleEndian: bytes.loadUnaligned(fromByteOffset: 4, as: UInt16.self))
        return count > 0 && bytes[9] == 0
    }

    /// Returns HEIC, HEIF, AVIF, a camera's raw format or a video format by the brands of the `ftyp` box, the major one first.
    ///
    /// A compatible brand decides if the major one is general (`mif1`) or names another use of the same file. Images win: many
    /// name the brands of videos, too.
    private static func isoBaseMedia(_ bytes: UnsafeRawBufferPointer) -> ImageFormat {
        guard bytes.count >= 12, bytes[4..<8].elementsEqual("ftyp".utf8) else {
            return VideoSniffer.isQuickTimeWithoutBrands(bytes) ? .quickTime : .undefined
        }
        let declared = Int(UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: 0, as: UInt32.self)))
        guard declared == 0 || declared >= 16 else { return .undefined }
        // 256 brands are far more than any file has; a bigger box is cut off there.
        let end = min(declared == 0 ? bytes.count : declared, bytes.count, 16 + 4 * 256)
        var best = ImageFormat.undefined
        for offset in [8] + Array(stride(from: 16, to: end - 3, by: 4)) {
            let brand = UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
            switch Self.format(ofBrand: brand) {
            case .heif: best = .heif
            case .undefined: continue
            case let format: return format
            }
        }
        return best == .undefined ? VideoSniffer.isoBaseMedia(bytes, end: end) : best
    }

    private static func format(ofBrand brand: UInt32) -> ImageFormat {
        switch brand {
        case fourCC("avif"), fourCC("avis"): .avif
        case fourCC("heic"), fourCC("heix"), fourCC("heim"), fourCC("heis"), fourCC("hevc"), fourCC("hevx"),
            fourCC("hevm"), fourCC("hevs"):
            .heic
        case fourCC("crx "): .raw
        case fourCC("mif1"), fourCC("mif2"), fourCC("msf1"): .heif
        default: .undefined
        }
    }
}

/// Returns four ASCII characters as the number they form in big-endian order.
package func fourCC(_ code: StaticString) -> UInt32 {
    precondition(code.utf8CodeUnitCount == 4)
    return UInt32(bigEndian: UnsafeRawPointer(code.utf8Start).loadUnaligned(as: UInt32.self))
}
