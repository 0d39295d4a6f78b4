import FoundationEssentials

/// The part of a JPEG before the first scan: read from its segments, without the decoder and without copying.
package struct JPEGHeader {
    /// The frame header: coding process, size, and sampling of the components.
    struct Frame {
        var marker: UInt8
        var width: Int
        var height: Int
        /// The horizontal and vertical sampling factors of each component.
        var sampling: [(horizontal: Int, vertical: Int)]
        /// The offset of the height, two bytes.
        var heightOffset = 0

        /// A Boolean value that indicates whether the coefficients of all scans must be kept in memory.
        var isProgressive: Bool { marker == 0xC2 || marker == 0xCA }
        /// A Boolean value that indicates arithmetic coding, which cannot be suspended.
        var isArithmetic: Bool { marker == 0xC9 || marker == 0xCA }
    }

    var frame: Frame
    var orientation: ImageOrientation = .up
    /// The colour profile, joined from its segments; nil without one or when segments are missing.
    var colorProfile: Data?
    /// The number of components in the first scan; fewer than in the frame means one scan per component.
    var componentsInFirstScan = 0
    /// The offset of the first scan's data.
    var scanStart = 0
    /// The number of blocks of components (MCUs) between two restart markers; 0 without markers.
    var restartInterval = 0

    /// - Throws: ``WebImageError/Code/badImageData`` when the segments end before a scan starts, ``WebImageError/Code/unsupportedFormat``
    ///   for lossless, hierarchical and 12-bit images.
    init(_ data: Data, limits: ImageLimits = ImageLimits()) throws(WebImageError) {
        self = try data.withBytes { (bytes) throws(WebImageError) in try JPEGHeader(bytes, limits: limits) }
    }

    /// Reads the header from bytes in memory.
    ///
    /// - Parameter limits: a colour profile above the limit is ignored.
    init(_ bytes: UnsafeRawBufferPointer, limits: ImageLimits = ImageLimits()) throws(WebImageError) {
        var walker = JPEGSegmentWalker(limits)
        try walker.walk(bytes)
        self = try walker.header(bytes)
    }

    fileprivate init(frame: Frame) { self.frame = frame }

    /// A Boolean value that indicates whether there are several scans, each of which covers the whole image.
    var hasScans: Bool { frame.isProgressive || componentsInFirstScan < frame.sampling.count }

    /// The number of bytes of coefficients that a decoder must keep: 0 for an image with one scan.
    var coefficientByteCount: Int {
        guard hasScans else { return 0 }
        let mostHorizontal = frame.sampling.map(\.horizontal).max() ?? 1
        let mostVertical = frame.sampling.map(\.vertical).max() ?? 1
        let columns = (frame.width + 8 * mostHorizontal - 1) / (8 * mostHorizontal)
        let rows = (frame.height + 8 * mostVertical - 1) / (8 * mostVertical)
        return frame.sampling.reduce(0) { $0 + columns * $1.horizontal * rows * $1.vertical * 128 }
    }
}

/// Reads the segments up to the first scan. With incomplete data it reads the complete segments, and continues from there with more.
struct JPEGSegmentWalker {
    private var bytes = UnsafeRawBufferPointer(start: nil, count: 0)
    private var position = 2
    private var isAtEnd = false
    private(set) var frame: JPEGHeader.Frame?
    private var orientation: ImageOrientation?
    private var xmpOrientation: ImageOrientation?
    private var profile = ProfileParts()
    private let profileLimit: Int
    private var componentsInFirstScan: Int?
    private var restartInterval = 0

    init(_ limits: ImageLimits) { profileLimit = limits.maximumColorProfileByteCount }

    /// A Boolean value that indicates whether the first scan or the end of the segments is reached.
    var isDone: Bool { componentsInFirstScan != nil || isAtEnd }

    /// The offset of the first scan's data; nil until it is known.
    var scanStart: Int? { componentsInFirstScan == nil ? nil : position }

    /// - Parameter bytes: all bytes so far, from the start.
    mutating func walk(_ bytes: UnsafeRawBufferPointer) throws(WebImageError) {
        guard bytes.count >= 4, bytes[0] == 0xFF, bytes[1] == 0xD8 else {
            throw WebImageError(.badImageData, "the data is not a JPEG")
        }
        self.bytes = bytes
        defer { self.bytes = UnsafeRawBufferPointer(start: nil, count: 0) }
        while !isDone, let marker = nextMarker() {
            // Markers without a length.
            if marker == 0x01 || (0xD0...0xD8).contains(marker) { continue }
            guard marker != 0xD9 else {
                isAtEnd = true
                return
            }
            guard let segment = nextSegment() else {
                // The marker is read again when there is more data.
                position -= 2
                return
            }
            try take(marker, segment)
        }
    }

    /// Returns the complete header; `bytes` as for ``walk(_:)``.
    func header(_ bytes: UnsafeRawBufferPointer) throws(WebImageError) -> JPEGHeader {
        guard let componentsInFirstScan, var header = beginning(bytes) else {
            throw WebImageError(.badImageData, "the JPEG ends before its image data")
        }
        header.componentsInFirstScan = componentsInFirstScan
        header.scanStart = position
        header.restartInterval = restartInterval
        return header
    }

    /// Returns the header so far, once the size is known; a colour profile may still follow. `bytes` as for ``walk(_:)``.
    func beginning(_ bytes: UnsafeRawBufferPointer) -> JPEGHeader? {
        guard let frame else { return nil }
        var header = JPEGHeader(frame: frame)
        header.orientation = orientation ?? xmpOrientation ?? .up
        header.colorProfile = profile.joined(bytes, limit: profileLimit)
        return header
    }

    /// Returns the next marker; stray bytes before it are skipped, as in libjpeg.
    private mutating func nextMarker() -> UInt8? {
        while position < bytes.count {
            while position < bytes.count, bytes[position] != 0xFF { position += 1 }
            while position < bytes.count, bytes[position] == 0xFF { position += 1 }
            guard position < bytes.count else {
                if bytes[position - 1] == 0xFF, position > 2 { position -= 1 }
                return nil
            }
            let marker = bytes[position]
            position += 1
            if marker != 0 { return marker }
        }
        return nil
    }

    private mutating func nextSegment() -> Range<Int>? {
        guard position + 2 <= bytes.count else { return nil }
        let length = uint16(position)
        isAtEnd = length < 2
        guard length >= 2, position + length <= bytes.count else { return nil }
        let segment = position + 2..<position + length
        position += length
        return segment
    }

    private mutating func take(_ marker: UInt8, _ segment: Range<Int>) throws(WebImageError) {
        switch marker {
        case 0xC0...0xC3, 0xC5...0xC7, 0xC9...0xCB, 0xCD...0xCF:
            if frame == nil { frame = try readFrame(marker, segment) }
        case 0xDD:
            restartInterval = segment.count >= 2 ? uint16(segment.lowerBound) : 0
        case 0xDA:
            componentsInFirstScan = segment.isEmpty ? 0 : Int(bytes[segment.lowerBound])
        case 0xE1:
            if orientation == nil, starts(segment, with: "Exif\0") {
                let tiff = min(segment.lowerBound + 6, segment.upperBound)
                orientation = EXIFOrientation.tag(tiff: .init(rebasing: bytes[tiff..<segment.upperBound]))
            } else if xmpOrientation == nil, starts(segment, with: "http://ns.adobe.com/xap/1.0/\0") {
                xmpOrientation = XMPOrientation.read(packet: .init(rebasing: bytes[segment]))
            }
        case 0xE2:
            if starts(segment, with: "ICC_PROFILE\0"), segment.count >= 14 {
                let number = Int(bytes[segment.lowerBound + 12])
                let count = Int(bytes[segment.lowerBound + 13])
                profile.add(number: number, of: count, segment.lowerBound + 14..<segment.upperBound)
            }
        default: break
        }
    }

    private func readFrame(_ marker: UInt8, _ segment: Range<Int>) throws(WebImageError) -> JPEGHeader.Frame {
        let start = segment.lowerBound
        guard segment.count >= 6 else { throw WebImageError(.badImageData, "the JPEG's frame header is too short") }
        guard [0xC0, 0xC1, 0xC2, 0xC9, 0xCA].contains(marker) else {
            throw WebImageError(.unsupportedFormat, "lossless and hierarchical JPEG are not supported")
        }
        guard bytes[start] == 8 else {
            throw WebImageError(.unsupportedFormat, "JPEG with \(bytes[start]) bits per sample is not supported")
        }
        let count = Int(bytes[start + 5])
        guard segment.count >= 6 + 3 * count, [1, 3, 4].contains(count) else {
            throw WebImageError(.badImageData, "the JPEG's frame header is damaged (\(count) components)")
        }
        let sampling = (0..<count).map { component in
            let factors = bytes[start + 7 + 3 * component]
            return (horizontal: Int(factors >> 4), vertical: Int(factors & 15))
        }
        guard sampling.allSatisfy({ (1...4).contains($0.horizontal) && (1...4).contains($0.vertical) }) else {
            throw WebImageError(.badImageData, "the JPEG's frame header is damaged (sampling factors)")
        }
        return JPEGHeader.Frame(
            marker: marker,
            width: uint16(start + 3),
            height: uint16(start + 1),
            sampling: sampling,
            heightOffset: start + 1
        )
    }

    private func uint16(_ offset: Int) -> Int { Int(bytes[offset]) << 8 | Int(bytes[offset + 1]) }

    private func starts(_ segment: Range<Int>, with text: StaticString) -> Bool {
        guard segment.count >= text.utf8CodeUnitCount else { return false }
        return (0..<text.utf8CodeUnitCount).allSatisfy { bytes[segment.lowerBound + $0] == text.utf8Start[$0] }
    }
}

/// The numbered parts of a colour profile, which may be in any order; all must be there.
private struct ProfileParts {
    private var count = 0
    private var parts: [Int: Range<Int>] = [:]
    private var isBroken = false

    mutating func add(number: Int, of total: Int, _ range: Range<Int>) {
        if number < 1 || number > total || (count != 0 && count != total) || parts[number] != nil { isBroken = true }
        count = total
        parts[number] = range
    }

    func joined(_ bytes: UnsafeRawBufferPointer, limit: Int) -> Data? {
        guard !isBroken, count > 0, parts.count == count else { return nil }
        let byteCount = parts.values.reduce(0) { $0 + $1.count }
        guard byteCount <= limit else { return nil }
        var profile = Data(capacity: byteCount)
        for number in 1...count {
            guard let range = parts[number] else { return nil }
            profile.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[range]))
        }
        return profile
    }
}
