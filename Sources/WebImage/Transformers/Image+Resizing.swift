import Glibc

extension Image {
    /// The picture at exactly the given size, smaller or bigger, resampled by Lanczos-3.
    ///
    /// Opaque pictures stay opaque, unless ``ImageScaleMode/aspectFit`` leaves bars.
    ///
    /// - Parameters:
    ///   - size: the size in points of the upright picture; pixels are points times ``scale``, rounded.
    ///   - scaleMode: how the picture fills it.
    /// - Throws: ``WebImageError/Code/transformFailed`` for a size with a side that is not above zero,
    ///   ``WebImageError/Code/limitExceeded`` for one above the ``ImageLimits`` that the picture was decoded within.
    public func resized(to size: ImageSize, scaleMode: ImageScaleMode) throws(WebImageError) -> Image {
        let target = try ImageExtent(self).resized(to: size)
        return replacing(try uprightBitmap().resized(to: (target.width, target.height), scaleMode))
    }
}

extension ImageExtent {
    /// The picture at another size in points.
    ///
    /// - Throws: as ``Image/resized(to:scaleMode:)``.
    func resized(to size: ImageSize) throws(WebImageError) -> ImageExtent {
        guard size.isUsable else {
            throw .untransformable("\(size.width)x\(size.height) is no size to resize to")
        }
        let most = Double(min(limits.maximumSideLength, ImageLimits.longestSide)) + 1
        let width = Int(min(max((size.width * scale).rounded(), 1), most))
        let height = Int(min(max((size.height * scale).rounded(), 1), most))
        try limits.check(width: width, height: height)
        // Four bytes at least, since bars need alpha.
        try limits.check(decodedByteCount: width * height * max(bytesPerPixel, 4))
        return making(width, height)
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

    /// The middle of the picture, as much as fills the target.
    private func filling(_ target: PixelSize, scaledBy factor: Double) throws(WebImageError) -> Bitmap {
        guard factor != 1 else {
            // Pixels stay as they are. The copy does not keep the whole picture's memory.
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

    /// The bitmap in the middle of a transparent one.
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
