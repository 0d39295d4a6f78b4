import CPixels
import Glibc

extension Image {
    /// The picture turned counter-clockwise, around its centre.
    ///
    /// Multiples of a right angle move pixels and change none; opaque pictures stay opaque then, unless the canvas shows more than the
    /// picture. At other angles pixels are resampled (bicubic), the picture's edges are smoothed, and what it does not cover is
    /// transparent.
    ///
    /// - Parameters:
    ///   - angle: in radians; negative ones turn clockwise.
    ///   - fitSize: the canvas becomes as big as the turned picture needs (true), or keeps its size and cuts corners off (false). A
    ///     right angle on a canvas of odd difference between its sides lies half a pixel to the top left of the middle.
    /// - Throws: ``WebImageError/Code/transformFailed`` for an angle that is no finite number,
    ///   ``WebImageError/Code/limitExceeded`` for a result above the ``ImageLimits`` that the picture was decoded within.
    public func rotated(by angle: Double, fitSize: Bool = true) throws(WebImageError) -> Image {
        guard angle.isFinite else { throw .untransformable("\(angle) is no angle to rotate by") }
        let upright = try uprightBitmap()
        // A full turn less, or sines of big numbers lose what makes a right angle one.
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

    /// The number of quarter turns, 0...3, that an angle in -π...π is; nil if it is something else by as much as the 512th part of a
    /// pixel, anywhere in the picture.
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
        // Where the picture is turned counter-clockwise, a row of the canvas runs through it clockwise.
        let left = 0.5 - Double(canvas.width) / 2
        for row in 0..<canvas.height {
            let down = Double(row) + 0.5 - Double(canvas.height) / 2
            let x = left * cosine - down * sine + Double(width) / 2
            let y = left * sine + down * cosine + Double(height) / 2
            cpixels_sample_row(&sampling, x, y, result.bytes(row), canvas.width)
        }
        return result
    }

    /// What holds all of a picture that is turned.
    static func canvas(_ width: Int, _ height: Int, turnedBy angle: Double) -> (width: Int, height: Int) {
        let (cosine, sine) = (abs(cos(angle)), abs(sin(angle)))
        return (
            enclosing(Double(width) * cosine + Double(height) * sine),
            enclosing(Double(width) * sine + Double(height) * cosine)
        )
    }

    /// Whole pixels that hold a length; a millionth of one, which is how products round, needs no pixel.
    private static func enclosing(_ length: Double) -> Int { max(Int((length - 1e-6).rounded(.up)), 1) }

    /// The middle of the bitmap, as far as it goes, in the middle of a canvas of another size.
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
