import CPixels

extension Image {
    /// The picture blurred by what comes close to a Gaussian: three passes of a box. Edges are extended; opaque pictures stay opaque.
    ///
    /// The cost does not depend on the radius.
    ///
    /// - Parameter radius: in points, the Gaussian's standard deviation. Of 0 or less the result is this very image; up to two pixels
    ///   count as two, and more than half a million as that.
    /// - Throws: ``WebImageError/Code/transformFailed`` for a radius that is no finite number, ``WebImageError/Code/outOfMemory``.
    public func blurred(radius: Double) throws(WebImageError) -> Image {
        guard radius.isFinite else { throw .untransformable("\(radius) is no radius to blur by") }
        guard radius > Double(Float.ulpOfOne) else { return self }
        return replacing(
            try uprightBitmapIn8Bits().boxBlurred(reach: Self.boxReach(radius * scale), within: effectLimits)
        )
    }

    /// How far a box reaches to both sides of its middle, for a radius in pixels.
    static func boxReach(_ radius: Double) -> Int {
        // The side of the box, `floor(r * 3 * sqrt(2π) / 4 + 0.5)`, is the next odd number.
        let side = (max(radius, 2) * 3 * (2 * Double.pi).squareRoot() / 4 + 0.5).rounded(.down)
        return min(Int(min(side, 0x1p30)) / 2, cpixels_box_longest_reach)
    }
}

extension Bitmap {
    /// Bytes that ``boxBlurred(reach:passes:within:)`` takes beside its result.
    static func boxScratch(_ width: Int, _ height: Int, bytesPerPixel: Int, reach: Int) -> Int {
        var box = cpixels_box(channels: Int32(bytesPerPixel), width: width, height: height, reach: reach)
        return cpixels_box_scratch(&box, true)
    }

    /// Each sample becomes the mean of a box around it, as often as `passes`, at least once, says.
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
