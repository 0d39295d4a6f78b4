import CPixels

/// Blurs an image; see ``Image/blurred(radius:)``.
public struct BlurTransformer: ImageTransformer {
    /// The radius in points.
    public let blurRadius: Double
    /// A Boolean value that indicates whether metadata is copied to the result. The default is true.
    public var preservesImageMetadata = true

    /// Creates a transformer that blurs by `radius` points.
    public init(radius: Double) { blurRadius = radius }

    /// `SDImageBlurTransformer(radius)` with six decimals.
    public var transformerKey: String { "SDImageBlurTransformer(\(FixedDecimal.string(blurRadius)))" }

    /// Returns the blurred image.
    ///
    /// - Throws: the errors of ``Image/blurred(radius:)``.
    public func transform(_ image: Image) throws(WebImageError) -> Image {
        handingOut(try image.blurred(radius: blurRadius))
    }

    /// Returns the memory cost: the result, the rows that the blur reaches, and copies of pixels that are not upright or have more than 8
    /// bits.
    public func memoryNeed(of input: ImageExtent) -> TransformMemoryNeed {
        guard blurRadius.isFinite, blurRadius > Double(Float.ulpOfOne) else {
            return TransformMemoryNeed(output: input, workingByteCount: 0)
        }
        let output = input.making(bytesPerPixel: input.narrowBytesPerPixel)
        guard output.byteCount > 0 else { return TransformMemoryNeed(output: output, workingByteCount: 0) }
        let rows = Bitmap.boxScratch(
            output.width,
            output.height,
            bytesPerPixel: output.bytesPerPixel,
            reach: Image.boxReach(blurRadius * input.scale)
        )
        return TransformMemoryNeed(output: output, workingByteCount: input.narrowUprightByteCount + rows)
    }
}

extension Image {
    /// Returns the image blurred by an approximation of a Gaussian: three passes of a box blur. Edges are extended; opaque images stay opaque.
    ///
    /// The cost does not depend on the radius.
    ///
    /// - Parameter radius: the Gaussian's standard deviation in points. For 0 or less the result is this image itself. A radius below two pixels
    ///   counts as two, and one above half a million as half a million.
    /// - Throws: ``WebImageError/Code/transformFailed`` for a radius that is not finite, ``WebImageError/Code/outOfMemory``.
    public func blurred(radius: Double) throws(WebImageError) -> Image {
        guard radius.isFinite else { throw .untransformable("blur radius must be finite, not \(radius)") }
        guard radius > Double(Float.ulpOfOne) else { return self }
        return replacing(
            try uprightBitmapIn8Bits().boxBlurred(reach: Self.boxReach(radius * scale), within: effectLimits)
        )
    }

    /// Returns how many pixels a box extends to each side of its centre, for a radius in pixels.
    static func boxReach(_ radius: Double) -> Int {
        // The side of the box is `floor(r * 3 * sqrt(2π) / 4 + 0.5)`, rounded up to an odd number.
        let side = (max(radius, 2) * 3 * (2 * Double.pi).squareRoot() / 4 + 0.5).rounded(.down)
        return min(Int(min(side, 0x1p30)) / 2, cpixels_box_longest_reach)
    }
}

extension Bitmap {
    /// Returns the number of scratch bytes that ``boxBlurred(reach:passes:within:)`` needs beside its result.
    static func boxScratch(_ width: Int, _ height: Int, bytesPerPixel: Int, reach: Int) -> Int {
        var box = cpixels_box(channels: Int32(bytesPerPixel), width: width, height: height, reach: reach)
        return cpixels_box_scratch(&box, true)
    }

    /// Replaces each sample by the mean of a box around it, `passes` times, at least once.
    func boxBlurred(reach: Int, passes: Int = 3, within limits: ImageLimits) throws(WebImageError) -> Bitmap {
        let result = try Bitmap.allocate((width, height), pixelFormat, within: limits)
        var box = cpixels_box(
            channels: Int32(pixelFormat.bytesPerPixel),
            width: width,
            height: height,
            reach: reach
        )
        let scratch = try ScratchBuffer(byteCount: cpixels_box_scratch(&box, true))
        cpixels_box_blur(&box, bytes(0), bytesPerRow, result.bytes(0), result.bytesPerRow, scratch.base)
        for _ in 1..<passes {
            cpixels_box_blur(
                &box,
                result.bytes(0),
                result.bytesPerRow,
                result.bytes(0),
                result.bytesPerRow,
                scratch.base
            )
        }
        return result
    }
}
