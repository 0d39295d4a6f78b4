import FoundationEssentials

/// An image in about 25 bytes: enough for a blurred placeholder with the right shape, colours and transparency.
///
/// The public ThumbHash format of Evan Wallace: the lowest frequencies of lightness, of two colour differences and of alpha, 4 bits
/// each. Store it next to the URL, and show ``makeImage()`` until the image has loaded.
public struct ThumbHash: Sendable, Hashable {
    /// The hash, 5 to 32 bytes.
    public let bytes: [UInt8]

    /// Creates a hash from an encoder's bytes.
    package init(unchecked bytes: [UInt8]) { self.bytes = bytes }

    /// Creates a hash from its bytes; nil if there are fewer than the first ones announce. Excess bytes are cut off.
    public init?(bytes: some Collection<UInt8>) {
        guard bytes.count >= 5 else { return nil }
        let bytes = Array(bytes.prefix(64))
        let needed = ThumbHashDecoder.byteCount(forHeader: bytes)
        guard bytes.count >= needed else { return nil }
        self.bytes = Array(bytes.prefix(needed))
    }

    /// Creates a hash from the Base64 form; nil if it is invalid.
    public init?(base64: String) {
        guard base64.utf8.count <= 128, let data = Data(base64Encoded: base64) else { return nil }
        self.init(bytes: data)
    }

    /// The bytes in Base64, without line breaks.
    public var base64: String { Data(bytes).base64EncodedString() }

    /// Indicates whether the image has transparent parts.
    package var hasAlpha: Bool { bytes[2] & 0x80 != 0 }

    /// The approximate ratio of width to height: one of the few that the format can store.
    package var approximateAspectRatio: Double {
        let header = ThumbHashDecoder(bytes)
        return Double(header.aspect.x) / Double(header.aspect.y)
    }

    /// The mean colour, and the mean alpha; components from 0 to 1, not premultiplied.
    package var averageColor: (red: Double, green: Double, blue: Double, alpha: Double) {
        let header = ThumbHashDecoder(bytes)
        let color = ThumbHashDecoder.rgb(header.lightness, header.yellowBlue, header.redGreen)
        return (color.red, color.green, color.blue, header.alpha)
    }

    /// Makes the placeholder: the longer side has 32 pixels. Takes about 1 ms.
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
