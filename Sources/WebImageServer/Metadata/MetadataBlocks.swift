import FoundationEssentials
import WebImage

/// The metadata blocks of an encoded image, as far as they can be copied into another one.
struct MetadataBlocks: Sendable, Hashable {
    /// A TIFF structure with EXIF's tags; nil without one.
    var exif: [UInt8]?
    /// An XMP packet; nil without one.
    var xmp: [UInt8]?
    /// The rest of an XMP packet that is too long for one segment of a JPEG: the contents of further segments.
    var xmpExtensions: [[UInt8]] = []
    /// Photoshop's image resources, which contain IPTC's records; nil without any.
    var resources: [UInt8]?

    static let exifPrefix = Array("Exif\0\0".utf8)
    static let xmpPrefix = Array("http://ns.adobe.com/xap/1.0/\0".utf8)
    static let xmpExtensionPrefix = Array("http://ns.adobe.com/xmp/extension/\0".utf8)
    static let resourcesPrefix = Array("Photoshop 3.0\0".utf8)
    static let xmpKeyword = Array("XML:com.adobe.xmp\0".utf8)

    /// Creates no metadata.
    init() {}

    /// Finds the blocks of an encoded image. Lengths are checked, and damaged files have the blocks in front of the damage.
    ///
    /// Nil for formats that have metadata which is not read: all but JPEG, PNG, WebP, and those without any.
    init?(of data: Data) {
        switch ImageFormat(detecting: data) {
        case .jpeg: data.withUnsafeBytes { readJPEG($0) }
        case .png: data.withUnsafeBytes { readPNG($0) }
        case .webp: data.withUnsafeBytes { readWebP($0) }
        case .bmp, .gif, .ico, .svg: break
        default: return nil
        }
    }

    private mutating func readJPEG(_ bytes: UnsafeRawBufferPointer) {
        var at = 2
        while at + 4 <= bytes.count, bytes[at] == 0xFF {
            let marker = bytes[at + 1]
            switch marker {
            case 0xFF:
                at += 1
                continue
            case 0x01, 0xD0...0xD8:
                at += 2
                continue
            // Pixels follow, or nothing.
            case 0xD9, 0xDA: return
            default: break
            }
            let count = Int(bytes[at + 2]) << 8 | Int(bytes[at + 3])
            guard count >= 2, at + 2 + count <= bytes.count else { return }
            read(marker, UnsafeRawBufferPointer(rebasing: bytes[(at + 4)..<(at + 2 + count)]))
            at += 2 + count
        }
    }

    private mutating func read(_ marker: UInt8, _ segment: UnsafeRawBufferPointer) {
        if marker == 0xE1, segment.starts(with: Self.exifPrefix) {
            exif = exif ?? Array(segment.dropFirst(Self.exifPrefix.count))
        } else if marker == 0xE1, segment.starts(with: Self.xmpPrefix) {
            xmp = xmp ?? Array(segment.dropFirst(Self.xmpPrefix.count))
        } else if marker == 0xE1, segment.starts(with: Self.xmpExtensionPrefix) {
            xmpExtensions.append(Array(segment))
        } else if marker == 0xED, segment.starts(with: Self.resourcesPrefix) {
            resources = (resources ?? []) + segment.dropFirst(Self.resourcesPrefix.count)
        }
    }

    private mutating func readPNG(_ bytes: UnsafeRawBufferPointer) {
        var at = 8
        while at + 12 <= bytes.count {
            let count = Int(UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: at, as: UInt32.self)))
            guard count <= bytes.count - at - 12 else { return }
            let name = bytes[(at + 4)..<(at + 8)]
            let body = UnsafeRawBufferPointer(rebasing: bytes[(at + 8)..<(at + 8 + count)])
            if name.elementsEqual("eXIf".utf8) {
                exif = exif ?? Self.tiff(body)
            } else if name.elementsEqual("iTXt".utf8), body.starts(with: Self.xmpKeyword) {
                xmp = xmp ?? Self.text(body.dropFirst(Self.xmpKeyword.count))
            }
            at += 12 + count
        }
    }

    /// Returns the text of an `iTXt` chunk behind its keyword; nil if it is compressed, which XMP must not be.
    private static func text(_ body: Slice<UnsafeRawBufferPointer>) -> [UInt8]? {
        guard body.first == 0 else { return nil }
        // The flag and the method of compression, the language, and the translated keyword.
        let parts = body.dropFirst(2).split(separator: 0, maxSplits: 2, omittingEmptySubsequences: false)
        return parts.count == 3 ? Array(parts[2]) : nil
    }

    private mutating func readWebP(_ bytes: UnsafeRawBufferPointer) {
        var at = 12
        while at + 8 <= bytes.count {
            let count = Int(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: at + 4, as: UInt32.self)))
            guard count <= bytes.count - at - 8 else { return }
            let name = bytes[at..<(at + 4)]
            let body = UnsafeRawBufferPointer(rebasing: bytes[(at + 8)..<(at + 8 + count)])
            if name.elementsEqual("EXIF".utf8) { exif = exif ?? Self.tiff(body) }
            if name.elementsEqual("XMP ".utf8) { xmp = xmp ?? Array(body) }
            at += 8 + count + count % 2
        }
    }

    /// Some programs write JPEG's prefix into other formats, too.
    private static func tiff(_ block: UnsafeRawBufferPointer) -> [UInt8] {
        Array(block.dropFirst(block.starts(with: exifPrefix) ? exifPrefix.count : 0))
    }
}
