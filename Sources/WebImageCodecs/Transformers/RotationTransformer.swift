import CPixels
import Glibc

/// Rotates an image counter-clockwise; see ``Image/rotated(by:fitSize:)``.
public struct RotationTransformer: ImageTransformer {
    /// The angle in radians; positive angles rotate counter-clockwise.
    public let angle: Double
    /// A Boolean value that indicates whether the canvas grows to hold the rotated image.
    public let fitSize: Bool
    /// A Boolean value that indicates whether metadata is copied to the result. The default is true.
    public var preservesImageMetadata = true

    /// Creates a transformer that rotates.
    ///
    /// - Parameters:
    ///   - angle: in radians; positive angles rotate counter-clockwise.
    ///   - fitSize: the canvas grows to hold the rotated image (true), or keeps its size and cuts corners off (false).
    public init(angle: Double, fitSize: Bool = true) {
        self.angle = angle
        self.fitSize = fitSize
    }

    /// `SDImageRotationTransformer(angle,fitSize)` with six decimals, and 0 or 1.
    public var transformerKey: String {
        "SDImageRotationTransformer(\(FixedDecimal.string(angle)),\(fitSize ? 1 : 0))"
    }

    /// Returns the rotated image.
    ///
    /// - Throws: the errors of ``Image/rotated(by:fitSize:)``.
    public func transform(_ image: Image) throws(WebImageError) -> Image {
        handingOut(try image.rotated(by: angle, fitSize: fitSize))
    }

    /// Returns the memory cost: the canvas, and copies of pixels that are not upright, have more than 8 bits or are rotated.
    public func memoryNeed(of input: ImageExtent) -> TransformMemoryNeed {
        guard angle.isFinite else { return TransformMemoryNeed(output: input.making(0, 0), workingByteCount: 0) }
        let angle = remainder(angle, 2 * .pi)
        guard let turns = Image.quarterTurns(angle, width: input.width, height: input.height) else {
            let (width, height) =
                fitSize
                ? Bitmap.canvas(input.width, input.height, turnedBy: angle) : (input.width, input.height)
            return TransformMemoryNeed(
                output: input.making(width, height, bytesPerPixel: 4),
                workingByteCount: input.narrowUprightByteCount
            )
        }
        let isTurned = turns % 2 == 1
        guard isTurned, !fitSize else {
            let output = isTurned ? input.making(input.height, input.width) : input.making()
            return TransformMemoryNeed(output: output, workingByteCount: input.uprightByteCount)
        }
        // The rotated image, and its visible part, with alpha.
        let output = input.making(bytesPerPixel: max(input.bytesPerPixel, 4))
        return TransformMemoryNeed(
            output: output,
            workingByteCount: input.uprightByteCount + input.byteCount + output.byteCount
        )
    }
}

extension Image {
    /// Returns the image rotated counter-clockwise around its centre.
    ///
    /// Multiples of a right angle move pixels without changing them; opaque images then stay opaque, unless the canvas shows more than the image. At
    /// other angles pixels are resampled (bicubic), the image's edges are smoothed, and uncovered parts of the canvas are transparent.
    ///
    /// - Parameters:
    ///   - angle: in radians; negative angles rotate clockwise.
    ///   - fitSize: the canvas grows to hold the rotated image (true), or keeps its size and cuts corners off (false). If the canvas's sides differ
    ///     by an odd number, a right angle places the image half a pixel to the top left of the centre.
    /// - Throws: ``WebImageError/Code/transformFailed`` for an angle that is not finite, ``WebImageError/Code/limitExceeded`` for a result above the
    ///   ``ImageLimits`` that the image was decoded with.
    public func rotated(by angle: Double, fitSize: Bool = true) throws(WebImageError) -> Image {
        guard angle.isFinite else { throw .untransformable("rotation angle must be finite, not \(angle)") }
        let upright = try uprightBitmap()
        // Full turns are removed first: sines of large numbers are too imprecise to recognise right angles.
        let angle = remainder(angle, 2 * .pi)
        let limits = effectLimits
        if let turns = Self.quarterTurns(angle, width: upright.width, height: upright.height) {
            let turned = try upright.upright(from: [.up, .left, .down, .right][turns])
            guard !fitSize, turned.width != upright.width else { return replacing(turned) }
            return replacing(try turned.recentred(in: (upright.width, upright.height), within: limits))
        }
        return replacing(
            try upright.with8Bits(of: metadata).rotated(by: angle, fitSize: fitSize, within: limits)
        )
    }

    /// Returns the number of quarter turns, 0...3, that an angle in -π...π corresponds to; nil if any point of the image would be off by 1/512 of a
    /// pixel or more.
    static func quarterTurns(_ angle: Double, width: Int, height: Int) -> Int? {
        let turns = (angle / (.pi / 2)).rounded()
        let radius = hypot(Double(width), Double(height)) / 2
        guard abs(angle - turns * (.pi / 2)) * radius < 1 / 512 else { return nil }
        return (Int(turns) + 4) % 4
    }
}

extension Bitmap {
    fileprivate func rotated(by angle: Double, fitSize: Bool, within limits: ImageLimits) throws(WebImageError)
        -> Bitmap
    {
        let (cosine, sine) = (cos(angle), sin(angle))
        let canvas = fitSize ? Self.canvas(width, height, turnedBy: angle) : (width: width, height: height)
        let result = try Bitmap.allocate(canvas, .bgra8Premultiplied, within: limits)
        var sampling = cpixels_sampling(
            source: bytes(0),
            bytes_per_row: bytesPerRow,
            width: width,
            height: height,
            channels: Int32(pixelFormat.bytesPerPixel),
            step_x: cosine,
            step_y: sine
        )
        // If the image rotates counter-clockwise, a row of the canvas runs through it clockwise.
        let left = 0.5 - Double(canvas.width) / 2
        for row in 0..<canvas.height {
            let down = Double(row) + 0.5 - Double(canvas.height) / 2
            let x = left * cosine - down * sine + Double(width) / 2
            let y = left * sine + down * cosine + Double(height) / 2
            cpixels_sample_row(&sampling, x, y, result.bytes(row), canvas.width)
        }
        return result
    }

    /// Returns the size of the canvas that holds a rotated image.
    static func canvas(_ width: Int, _ height: Int, turnedBy angle: Double) -> (width: Int, height: Int) {
        let (cosine, sine) = (abs(cos(angle)), abs(sin(angle)))
        return (
            enclosing(Double(width) * cosine + Double(height) * sine),
            enclosing(Double(width) * sine + Double(height) * cosine)
        )
    }

    /// Returns the number of whole pixels that hold a length. A millionth of a pixel, the rounding error of products, does not count.
    private static func enclosing(_ length: Double) -> Int { max(Int((length - 1e-6).rounded(.up)), 1) }

    /// Returns the centre of the bitmap, cropped if necessary, in the centre of a canvas of another size.
    fileprivate func recentred(
        in canvas: (width: Int, height: Int),
        within limits: ImageLimits
    ) throws(WebImageError) -> Bitmap {
        let seen = (width: min(width, canvas.width), height: min(height, canvas.height))
        let part = part(
            x: (width - seen.width + 1) / 2,
            y: (height - seen.height + 1) / 2,
            width: seen.width,
            height: seen.height
        )
        guard seen != canvas else { return try part.copy() }
        let source = try part.withAlpha()
        let result = try Bitmap.allocate(canvas, source.pixelFormat, within: limits)
        let pixel = source.pixelFormat.bytesPerPixel
        let (left, top) = ((canvas.width - seen.width) / 2, (canvas.height - seen.height) / 2)
        for row in 0..<canvas.height {
            memset(result.mutableRow(row), 0, result.bytesPerRow)
            guard row >= top, row < top + seen.height else { continue }
            memcpy(result.mutableRow(row) + left * pixel, source.mutableRow(row - top), seen.width * pixel)
        }
        return result
    }
}
