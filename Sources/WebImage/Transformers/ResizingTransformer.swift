import Glibc

/// How a picture fills a rectangle of another shape.
public enum ImageScaleMode: Int, Sendable, Hashable, CaseIterable {
    /// Stretched to the rectangle.
    case fill = 0
    /// As big as fits, centred, with transparent bars.
    case aspectFit = 1
    /// As small as covers, centred, what hangs over is cut off.
    case aspectFill = 2
}

/// Makes an image exactly the size that is asked for, smaller or bigger.
///
/// The size is in points: pixels are points times the image's scale. Resampling is Lanczos-3.
public struct ResizingTransformer: ImageTransformer {
    /// The size of the result in points.
    public let size: ImageSize
    /// How the picture fills it.
    public let scaleMode: ImageScaleMode

    /// A transformer to `size` points.
    public init(size: ImageSize, scaleMode: ImageScaleMode) {
        self.size = size
        self.scaleMode = scaleMode
    }

    /// `SDImageResizingTransformer({width,height},mode)` with six decimals.
    public var transformerKey: String {
        let width = FixedDecimal.string(size.width)
        let height = FixedDecimal.string(size.height)
        return "SDImageResizingTransformer({\(width),\(height)},\(scaleMode.rawValue))"
    }

    /// The resized image.
    ///
    /// - Throws: ``WebImageError/Code/transformFailed`` for a size with a side that is not above zero,
    ///   ``WebImageError/Code/limitExceeded`` for one above the default ``ImageLimits``.
    public func transform(_ image: Image) throws(WebImageError) -> Image {
        guard size.isUsable else {
            throw WebImageError(.transformFailed, "\(size.width)x\(size.height) is no size to resize to")
        }
        let target = try Self.pixels(size, scale: image.scale)
        // The size is meant for the picture as it is seen.
        let upright = try image.bitmap.upright(from: image.orientation)
        return Image(
            bitmap: try resized(upright, to: target),
            scale: image.scale,
            metadata: image.metadata,
            extendedData: image.extendedData
        )
    }

    private typealias PixelSize = (width: Int, height: Int)

    private static func pixels(_ size: ImageSize, scale: Double) throws(WebImageError) -> PixelSize {
        let limits = ImageLimits()
        let most = Double(limits.maximumSideLength) + 1
        let width = Int(min(max((size.width * scale).rounded(), 1), most))
        let height = Int(min(max((size.height * scale).rounded(), 1), most))
        try limits.check(width: width, height: height)
        return (width, height)
    }

    private func resized(_ bitmap: Bitmap, to target: PixelSize) throws(WebImageError) -> Bitmap {
        let across = Double(target.width) / Double(bitmap.width)
        let down = Double(target.height) / Double(bitmap.height)
        switch scaleMode {
        case .fill:
            return try Resampler.resize(bitmap, width: target.width, height: target.height)
        case .aspectFit:
            let factor = min(across, down)
            let width = min(max(Int((Double(bitmap.width) * factor).rounded()), 1), target.width)
            let height = min(max(Int((Double(bitmap.height) * factor).rounded()), 1), target.height)
            let inner = try Resampler.resize(bitmap, width: width, height: height)
            return width == target.width && height == target.height ? inner : try centred(inner, in: target)
        case .aspectFill:
            let factor = max(across, down)
            let width = min(max(Int((Double(target.width) / factor).rounded()), 1), bitmap.width)
            let height = min(max(Int((Double(target.height) / factor).rounded()), 1), bitmap.height)
            let part = bitmap.part(
                x: (bitmap.width - width) / 2,
                y: (bitmap.height - height) / 2,
                width: width,
                height: height
            )
            return try Resampler.resize(part, width: target.width, height: target.height)
        }
    }

    /// The bitmap in the middle of a transparent one.
    private func centred(_ bitmap: Bitmap, in target: PixelSize) throws(WebImageError) -> Bitmap {
        let source = try bitmap.withAlpha()
        let result = try Bitmap.allocate(width: target.width, height: target.height, pixelFormat: source.pixelFormat)
        let left = (target.width - source.width) / 2
        let top = (target.height - source.height) / 2
        for row in 0..<target.height {
            let output = result.mutableRow(row)
            memset(output, 0, result.bytesPerRow)
            guard row >= top, row < top + source.height else { continue }
            let pixel = source.pixelFormat.bytesPerPixel
            memcpy(output + left * pixel, source.mutableRow(row - top), source.width * pixel)
        }
        return result
    }
}
