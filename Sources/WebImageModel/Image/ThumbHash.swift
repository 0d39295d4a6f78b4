import FoundationEssentials

/// A picture in about 25 bytes: enough for a blurred placeholder with the right shape, colours and transparency.
///
/// The public ThumbHash format of Evan Wallace: the lowest frequencies of lightness, of two colour differences and of
/// alpha, 4 bits each. Store it next to the URL, and show ``makeImage()`` until the picture is there.
public struct ThumbHash: Sendable, Hashable {
    /// The hash, 5 to 32 bytes.
    public let bytes: [UInt8]

    /// A hash of bytes that an encoder made.
    package init(unchecked bytes: [UInt8]) { self.bytes = bytes }

    /// A hash from its bytes; nil when there are too few for what the first ones announce. More are cut off.
    public init?(bytes: some Collection<UInt8>) {
        guard bytes.count >= 5 else { return nil }
        let bytes = Array(bytes.prefix(64))
        let needed = ThumbHashDecoder.byteCount(forHeader: bytes)
        guard bytes.count >= needed else { return nil }
        self.bytes = Array(bytes.prefix(needed))
    }

    /// A hash from the Base64 form; nil when it is none.
    public init?(base64: String) {
        guard base64.utf8.count <= 128, let data = Data(base64Encoded: base64) else { return nil }
        self.init(bytes: data)
    }

    /// The bytes in Base64, without line breaks.
    public var base64: String { Data(bytes).base64EncodedString() }

    /// Whether the picture has transparent parts.
    public var hasAlpha: Bool { bytes[2] & 0x80 != 0 }

    /// Width divided by height, roughly: one of the few ratios that the format knows.
    public var approximateAspectRatio: Double {
        let header = ThumbHashDecoder(bytes)
        return Double(header.aspect.x) / Double(header.aspect.y)
    }

    /// The mean colour, and the mean alpha; components from 0 to 1, not premultiplied.
    public var averageColor: (red: Double, green: Double, blue: Double, alpha: Double) {
        let header = ThumbHashDecoder(bytes)
        let color = ThumbHashDecoder.rgb(header.lightness, header.yellowBlue, header.redGreen)
        return (color.red, color.green, color.blue, header.alpha)
    }

    /// The placeholder: the longer side 32 pixels. Takes about 1 ms.
    ///
    /// - Throws: ``WebImageError/Code/outOfMemory``.
    public func makeImage() throws(WebImageError) -> Image {
        Image(bitmap: try ThumbHashDecoder(bytes).bitmap())
    }
}

extension ThumbHash: CustomStringConvertible {
    /// The Base64 form.
    public var description: String { base64 }
}
