import FoundationEssentials
import Glibc

/// The sizes of images in a document, read without parsing it: the dictionary of an image is never compressed, and of encrypted
/// ones only strings are encrypted.
enum PDFImageSizes {
    /// The maximum distance in bytes between width and height of one image. A larger distance would only raise estimates.
    private static let reach = 1024
    private static let mostSide = 1 << 28

    /// Returns the number of pixels of the largest image; 0 if there is none. For a document that hides its images (`/W#69dth`) the
    /// estimate is too low, so drawing it can exceed the worker's memory, which is an error of that document.
    static func largestPixelCount(in data: Data) -> Int {
        data.withUnsafeBytes { bytes in
            var widths: (end: Int, side: Int)?
            var heights: (end: Int, side: Int)?
            var largest = 0
            var offset = 0
            while let slash = next(bytes, from: offset) {
                offset = slash + 1
                if let width = side(after: "/Width", at: slash, bytes) {
                    widths = (slash, width)
                } else if let height = side(after: "/Height", at: slash, bytes) {
                    heights = (slash, height)
                } else {
                    continue
                }
                if let width = widths, let height = heights, abs(width.end - height.end) <= reach {
                    largest = max(largest, width.side * height.side)
                }
            }
            return largest
        }
    }

    private static func next(_ bytes: UnsafeRawBufferPointer, from offset: Int) -> Int? {
        guard offset < bytes.count, let base = bytes.baseAddress else { return nil }
        return memchr(base + offset, 0x2F, bytes.count - offset).map { UnsafeRawPointer($0) - base }
    }

    /// Returns the number after a name; nil for another name, or a name without a number.
    private static func side(after name: StaticString, at offset: Int, _ bytes: UnsafeRawBufferPointer) -> Int? {
        let count = name.utf8CodeUnitCount
        guard offset + count < bytes.count, let base = bytes.baseAddress,
            memcmp(base + offset, name.utf8Start, count) == 0
        else { return nil }
        var index = offset + count
        while index < bytes.count, [0, 9, 10, 12, 13, 32].contains(bytes[index]) { index += 1 }
        var side = 0
        var digits = 0
        while index < bytes.count, (48...57).contains(bytes[index]), side < mostSide {
            side = side * 10 + Int(bytes[index] - 48)
            digits += 1
            index += 1
        }
        return digits > 0 ? min(side, mostSide) : nil
    }
}
