import FoundationEssentials
import WebImage

extension ImageEncoding.OriginalUse {
    /// The formats of originals that are sent as they are. Drawings are not: they can contain scripts, and refer to other files.
    private static let sentFormats: Set<ImageFormat> = [
        .jpeg, .png, .gif, .webp, .avif, .heic, .heif, .jpegXL, .tiff, .bmp, .ico,
    ]

    /// Creates the use of the original that options ask for; nil if they ask for none.
    init?(_ wanted: VariantOptions) {
        let sent = Self.sent(wanted)
        let kept = wanted.keptMetadata
        let isUpright = wanted.autoRotate != false
        guard wanted.raw || !sent.isEmpty || kept != nil else { return nil }
        let names = sent.map { "\($0.rawValue)" }.sorted().joined(separator: ".")
        let key = "\(wanted.raw ? "raw" : names),\(kept?.rawValue ?? "")\(kept == nil || isUpright ? "" : ",stored")"
        self.init(key: key) { (original, image, encode) throws(WebImageError) -> Data in
            let format = ImageFormat(detecting: original)
            if sent.contains(format) { return original }
            guard !wanted.raw else { throw WebImageError(.unsupportedFormat, "\(format) is not sent unprocessed") }
            let data = try encode()
            guard let kept else { return data }
            guard let blocks = MetadataBlocks(of: original) else {
                throw WebImageError(.unsupportedFormat, "the metadata of \(format) cannot be kept")
            }
            let size = PixelSize(max(image.pixelWidth, 1), max(image.pixelHeight, 1))
            return try kept.blocks(of: blocks, size: size, isUpright: isUpright).inserted(into: data)
        }
    }

    private static func sent(_ wanted: VariantOptions) -> Set<ImageFormat> {
        if wanted.raw { return sentFormats }
        var formats = wanted.skipProcessing
        // Files with either name are the same format.
        if formats.contains(.heic) { formats.insert(.heif) }
        return formats.filter { sentFormats.contains($0) && (wanted.format == nil || wanted.format == $0) }
    }
}

extension VariantOptions {
    /// The metadata that the result keeps; nil for none.
    var keptMetadata: KeptMetadata? {
        if stripMetadata == false { return .all }
        return keepCopyright == true ? .copyright : nil
    }
}
