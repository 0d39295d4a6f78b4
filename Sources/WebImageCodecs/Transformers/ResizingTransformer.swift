import Glibc

/// The way in which an image fills a rectangle of another aspect ratio.
public enum ImageScaleMode: Int, Sendable, Hashable, CaseIterable {
    /// Stretched to the rectangle.
    case fill = 0
    /// As large as fits, centred, with transparent bars.
    case aspectFit = 1
    /// As small as covers the rectangle, centred; overhanging parts are cut off.
    case aspectFill = 2
}

/// Resizes an image to an exact size, smaller or larger; see ``Image/resized(to:scaleMode:)``.
public struct ResizingTransformer: ImageTransformer {
    /// The size of the result in points.
    public let size: ImageSize
    /// The way in which the image fills the size.
    public let scaleMode: ImageScaleMode
    /// A Boolean value that indicates whether metadata is copied to the result. The default is true.
    public var preservesImageMetadata = true

    /// Creates a transformer that resizes to `size` points.
    ///
    /// - Parameters:
    ///   - size: the size of the result in points.
    ///   - scaleMode: how the image fills the size.
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

    /// Returns the resized image.
    ///
    /// - Throws: the errors of ``Image/resized(to:scaleMode:)``.
    public func transform(_ image: Image) throws(WebImageError) -> Image {
        handingOut(try image.resized(to: size, scaleMode: scaleMode))
    }

    /// Returns the memory cost: the result, the filter's rows, and with bars the image without them.
    public func memoryNeed(of input: ImageExtent) -> TransformMemoryNeed {
        guard var output = try? input.resized(to: size, scaleMode: scaleMode) else {
            return TransformMemoryNeed(output: input.making(0, 0), workingByteCount: 0)
        }
        let (seen, drawn) = input.resampling(to: output, scaleMode: scaleMode)
        var working = input.uprightByteCount
        working += AssemblyNeed.resampling(seen, to: drawn, bytesPerPixel: input.bytesPerPixel)
        if scaleMode == .aspectFit {
            output.bytesPerPixel = max(input.bytesPerPixel, 4)
            let inner = output.making(drawn.width, drawn.height)
            working += 2 * inner.byteCount
        }
        return TransformMemoryNeed(output: output, workingByteCount: working)
    }
}

extension Image {
    /// Returns the image at exactly the given size, smaller or larger, resampled by Lanczos-3.
    ///
    /// Opaque images stay opaque, unless ``ImageScaleMode/aspectFit`` leaves bars.
    ///
    /// - Parameters:
    ///   - size: the size in points of the upright image; pixels are points times ``scale``, rounded.
    ///   - scaleMode: how the image fills the size.
    /// - Throws: ``WebImageError/Code/transformFailed`` for a size with a side that is not above zero, ``WebImageError/Code/limitExceeded`` for one
    ///   above the ``ImageLimits`` that the image was decoded with, and if the filter's buffered rows exceed them: those of a wide and low image
    ///   whose result is high.
    public func resized(to size: ImageSize, scaleMode: ImageScaleMode) throws(WebImageError) -> Image {
        let target = try ImageExtent(self).resized(to: size, scaleMode: scaleMode)
        return replacing(try uprightBitmap().resized(to: (target.width, target.height), scaleMode))
    }
}

extension ImageExtent {
    /// Returns the extent of the image at another size in points.
    ///
    /// - Throws: as ``Image/resized(to:scaleMode:)``.
    func resized(to size: ImageSize, scaleMode: ImageScaleMode) throws(WebImageError) -> ImageExtent {
        guard size.isUsable else {
            throw .untransformable("invalid target size \(size.width)x\(size.height)")
        }
        let most = Double(min(limits.maximumSideLength, ImageLimits.longestSide)) + 1
        let width = Int(min(max((size.width * scale).rounded(), 1), most))
        let height = Int(min(max((size.height * scale).rounded(), 1), most))
        try limits.check(width: width, height: height)
        // At least four bytes, since bars need alpha.
        try limits.check(decodedByteCount: width * height * max(bytesPerPixel, 4))
        let output = making(width, height)
        let (seen, drawn) = resampling(to: output, scaleMode: scaleMode)
        let rows = AssemblyNeed.band(seen, to: drawn, bytesPerPixel: bytesPerPixel)
        if rows > Self.fewRows { try limits.check(decodedByteCount: rows) }
        return output
    }

    /// The number of bytes of buffered rows that is accepted however strict the limits are: 16 MiB.
    private static let fewRows = 16 << 20

    typealias PixelSize = (width: Int, height: Int)

    /// Returns approximately the visible part of the image, and the size that it is resampled to.
    func resampling(to output: ImageExtent, scaleMode: ImageScaleMode) -> (seen: PixelSize, drawn: PixelSize) {
        let (all, target) = ((width, height), (output.width, output.height))
        let across = Double(output.width) / Double(max(width, 1))
        let down = Double(output.height) / Double(max(height, 1))
        func part(_ side: Int, by factor: Double, of most: Int) -> Int {
            Int(min((Double(side) * factor).rounded(.up), Double(most)))
        }
        switch scaleMode {
        case .fill: return (all, target)
        case .aspectFit:
            let factor = min(across, down)
            return (
                all,
                (
                    part(width, by: factor, of: output.width),
                    part(height, by: factor, of: output.height)
                )
            )
        case .aspectFill:
            // The filter extends three pixels further.
            let factor = max(across, down)
            return (
                (
                    part(output.width, by: 1 / factor, of: width - 7) + 7,
                    part(output.height, by: 1 / factor, of: height - 7) + 7
                ), target
            )
        }
    }
}

extension Bitmap {
    private typealias PixelSize = (width: Int, height: Int)

    fileprivate func resized(to target: (width: Int, height: Int), _ mode: ImageScaleMode) throws(WebImageError)
        -> Bitmap
    {
        let across = Double(target.width) / Double(width)
        let down = Double(target.height) / Double(height)
        switch mode {
        case .fill:
            return try Resampler.resize(self, width: target.width, height: target.height)
        case .aspectFit:
            let factor = min(across, down)
            let fitting = Self.scaled((width, height), by: factor, atMost: target)
            let inner = try Resampler.resize(self, width: fitting.width, height: fitting.height)
            return fitting == target ? inner : try inner.centred(in: target)
        case .aspectFill:
            return try filling(target, scaledBy: max(across, down))
        }
    }

    /// Returns the centre of the image, as much as fills the target.
    private func filling(_ target: PixelSize, scaledBy factor: Double) throws(WebImageError) -> Bitmap {
        guard factor != 1 else {
            // Pixels stay as they are. The copy does not keep the whole image's memory.
            guard target != (width, height) else { return self }
            let (x, y) = ((width - target.width) / 2, (height - target.height) / 2)
            return try part(x: x, y: y, width: target.width, height: target.height).copy()
        }
        let seenWidth = min(Double(target.width) / factor, Double(width))
        let seenHeight = min(Double(target.height) / factor, Double(height))
        let x = (Double(width) - seenWidth) / 2
        let y = (Double(height) - seenHeight) / 2
        return try Resampler.resize(
            self,
            area: (x, y, seenWidth, seenHeight),
            width: target.width,
            height: target.height
        )
    }

    private static func scaled(_ size: PixelSize, by factor: Double, atMost most: PixelSize) -> PixelSize {
        let width = min(max((Double(size.width) * factor).rounded(), 1), Double(most.width))
        let height = min(max((Double(size.height) * factor).rounded(), 1), Double(most.height))
        return (Int(width), Int(height))
    }

    /// Returns the bitmap centred in a transparent one.
    private func centred(in target: PixelSize) throws(WebImageError) -> Bitmap {
        let source = try withAlpha()
        let result = try Bitmap.allocate(width: target.width, height: target.height, pixelFormat: source.pixelFormat)
        let pixel = source.pixelFormat.bytesPerPixel
        let left = (target.width - width) / 2
        let top = (target.height - height) / 2
        for row in 0..<target.height {
            let output = result.mutableRow(row)
            memset(output, 0, result.bytesPerRow)
            guard row >= top, row < top + height else { continue }
            memcpy(output + left * pixel, source.mutableRow(row - top), width * pixel)
        }
        return result
    }
}
