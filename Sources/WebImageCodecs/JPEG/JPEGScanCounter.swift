import Glibc

/// Counts the scans of a JPEG without decoding them, from their markers, in a thousandth of the time. With incomplete data it counts the available
/// scans, and continues from there with more.
struct JPEGScanCounter {
    /// The number of scans that have begun.
    private(set) var scanCount = 1
    private var position: Int
    private var isAtEnd = false

    /// Creates a counter; nil for an image of one scan.
    init?(_ header: JPEGHeader) {
        guard header.hasScans else { return nil }
        position = header.scanStart
    }

    /// - Parameters:
    ///   - bytes: all bytes so far, from the start.
    ///   - limit: the maximum number of scans.
    /// - Throws: ``WebImageError/Code/limitExceeded``.
    mutating func count(_ bytes: UnsafeRawBufferPointer, limit: Int) throws(WebImageError) {
        while !isAtEnd, scanCount <= limit, step(bytes) {}
        guard scanCount <= limit else {
            throw .limitExceeded("maximumScanCount", allowed: limit, required: limit + 1)
        }
    }

    /// Moves past the next marker; returns false when it is incomplete.
    private mutating func step(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard position < bytes.count, let base = bytes.baseAddress,
            let found = memchr(base + position, 0xFF, bytes.count - position)
        else {
            position = max(position, bytes.count)
            return false
        }
        position = UnsafeRawPointer(found) - base
        guard position + 1 < bytes.count else { return false }
        switch bytes[position + 1] {
        case 0xFF: position += 1
        case 0x00, 0x01, 0xD0...0xD8: position += 2
        case 0xD9: isAtEnd = true
        case let marker:
            guard position + 3 < bytes.count else { return false }
            if marker == 0xDA { scanCount += 1 }
            position += 2 + (Int(bytes[position + 2]) << 8 | Int(bytes[position + 3]))
        }
        return true
    }
}
