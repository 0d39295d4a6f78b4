import CPixels
import Glibc

/// Rounds the corners of an image, and draws a border; see ``Image/roundedCorner(radius:corners:borderWidth:borderColor:)``.
public struct RoundCornerTransformer: ImageTransformer {
    /// The radius of the corners in points.
    public let cornerRadius: Double
    /// The corners to round.
    public let corners: RectCorner
    /// The width of the border in points.
    public let borderWidth: Double
    /// The colour of the border; nil for none.
    public let borderColor: ImageColor?
    /// A Boolean value that indicates whether metadata is copied to the result. The default is true.
    public var preservesImageMetadata = true

    /// Creates a transformer that rounds corners.
    ///
    /// - Parameters:
    ///   - radius: the corner radius in points.
    ///   - corners: the corners to round; all by default.
    ///   - borderWidth: in points; 0 by default.
    ///   - borderColor: the colour of the border line; nil, the default, draws none.
    public init(
        radius: Double,
        corners: RectCorner = .allCorners,
        borderWidth: Double = 0,
        borderColor: ImageColor? = nil
    ) {
        cornerRadius = radius
        self.corners = corners
        self.borderWidth = borderWidth
        self.borderColor = borderColor
    }

    /// `SDImageRoundCornerTransformer(radius,corners,borderWidth,#aarrggbb)` with six decimals; `(null)` without a colour.
    public var transformerKey: String {
        let radius = FixedDecimal.string(cornerRadius)
        let width = FixedDecimal.string(borderWidth)
        let color = borderColor?.hexString ?? "(null)"
        return "SDImageRoundCornerTransformer(\(radius),\(corners.rawValue),\(width),\(color))"
    }

    /// Returns the image with rounded corners.
    ///
    /// - Throws: the errors of ``Image/roundedCorner(radius:corners:borderWidth:borderColor:)``.
    public func transform(_ image: Image) throws(WebImageError) -> Image {
        handingOut(
            try image.roundedCorner(
                radius: cornerRadius,
                corners: corners,
                borderWidth: borderWidth,
                borderColor: borderColor
            )
        )
    }

    /// Returns the memory cost: the result with alpha, and copies of pixels that are not upright or have more than 8 bits.
    public func memoryNeed(of input: ImageExtent) -> TransformMemoryNeed {
        guard Image.hasCornersToRound(cornerRadius, corners, borderWidth: borderWidth) else {
            return TransformMemoryNeed(output: input.making(), workingByteCount: input.uprightByteCount)
        }
        return TransformMemoryNeed(
            output: input.making(bytesPerPixel: 4),
            workingByteCount: input.narrowUprightByteCount
        )
    }
}

extension Image {
    /// Returns the image at the same size with rounded corners; the parts cut off are transparent.
    ///
    /// With a border the image is cut to the rectangle that is inset by `borderWidth`. A border line of that width is drawn only if there is a
    /// colour: its centre line is inset by `floor(borderWidth * scale) + 0.5` pixels, and its radius is half a pixel smaller, as in SDWebImage. A
    /// border of half the shorter side or more leaves nothing.
    ///
    /// - Parameters:
    ///   - radius: the corner radius in points; clamped to 0 and half the shorter side.
    ///   - corners: the corners to round; all by default.
    ///   - borderWidth: in points; less than 0 counts as 0.
    ///   - borderColor: the colour of the border line; nil, the default, draws none.
    /// - Throws: ``WebImageError/Code/transformFailed`` for a radius or width that is not finite, ``WebImageError/Code/outOfMemory``.
    public func roundedCorner(
        radius: Double,
        corners: RectCorner = .allCorners,
        borderWidth: Double = 0,
        borderColor: ImageColor? = nil
    ) throws(WebImageError) -> Image {
        guard radius.isFinite, borderWidth.isFinite else {
            throw .untransformable("corner radius and border width must be finite, not \(radius) and \(borderWidth)")
        }
        guard Self.hasCornersToRound(radius, corners, borderWidth: borderWidth) else {
            return replacing(try uprightBitmap())
        }
        let (radius, width) = (max(radius, 0) * scale, max(borderWidth, 0) * scale)
        let upright = try uprightBitmapIn8Bits()
        let drawing = RoundedCornerDrawing(source: upright, radius: radius, corners: corners, borderWidth: width)
        let line = width > 0 ? borderColor : nil
        return replacing(try drawing.draw(line, radius: max(radius - scale * scale / 2, 0), within: effectLimits))
    }
}

extension Image {
    /// Returns whether rounding corners changes anything except the orientation.
    static func hasCornersToRound(_ radius: Double, _ corners: RectCorner, borderWidth: Double) -> Bool {
        borderWidth > 0 || radius > 0 && !corners.isDisjoint(with: [.topLeft, .topRight, .bottomLeft, .bottomRight])
    }
}

/// Draws a bitmap with rounded corners. All lengths are in pixels.
private struct RoundedCornerDrawing {
    let source: Bitmap
    let radius: Double
    let corners: RectCorner
    let borderWidth: Double

    func draw(
        _ line: ImageColor?,
        radius lineRadius: Double,
        within limits: ImageLimits
    ) throws(WebImageError) -> Bitmap {
        let result = try Bitmap.allocate((source.width, source.height), .bgra8Premultiplied, within: limits)
        for row in 0..<result.height { memset(result.mutableRow(row), 0, result.bytesPerRow) }
        guard RoundedRectangle.exists(width: source.width, height: source.height, inset: borderWidth) else {
            return result
        }
        let shape = rectangle(inset: borderWidth, radius: radius)
        for row in 0..<result.height { fill(row, shape, in: result) }
        if let line { stroke(line, radius: lineRadius, in: result) }
        return result
    }

    private func rectangle(inset: Double, radius: Double) -> RoundedRectangle {
        RoundedRectangle(width: source.width, height: source.height, inset: inset, radius: radius, corners: corners)
    }

    /// Copies the part of a row that lies within a shape.
    private func fill(_ row: Int, _ shape: RoundedRectangle, in result: Bitmap) {
        let (touched, covered) = shape.columns(ofRow: row)
        let input = source.bytes(row)
        let output = result.bytes(row)
        func copy(_ columns: Range<Int>) {
            guard !columns.isEmpty else { return }
            let target = output + 4 * columns.lowerBound
            if source.pixelFormat.hasAlpha {
                memcpy(target, input + 4 * columns.lowerBound, columns.count * 4)
            } else {
                cpixels_rgb_to_bgra(input + 3 * columns.lowerBound, target, columns.count)
            }
        }
        copy(touched)
        for column in touched where !covered.contains(column) {
            let part = shape.coverage(column: column, row: row)
            let pixel = output + 4 * column
            for channel in 0..<4 { pixel[channel] = UInt8(Double(pixel[channel]) * part + 0.5) }
        }
    }

    /// Draws the border over the existing pixels.
    private func stroke(_ color: ImageColor, radius: Double, in result: Bitmap) {
        let middle = borderWidth.rounded(.down) + 0.5
        // A square corner stays square on both sides of the line.
        let outer = rectangle(inset: middle - borderWidth / 2, radius: radius > 0 ? radius + borderWidth / 2 : 0)
        let hasInside = RoundedRectangle.exists(
            width: source.width,
            height: source.height,
            inset: middle + borderWidth / 2
        )
        let inner = hasInside ? rectangle(inset: middle + borderWidth / 2, radius: radius - borderWidth / 2) : nil
        let line = [color.blue, color.green, color.red, 1].map { $0 * color.alpha * 255 }
        for row in 0..<result.height {
            let (touched, _) = outer.columns(ofRow: row)
            let hole = inner?.columns(ofRow: row).covered ?? 0..<0
            let output = result.bytes(row)
            for column in touched where !hole.contains(column) {
                let part =
                    outer.coverage(column: column, row: row) - (inner?.coverage(column: column, row: row) ?? 0)
                guard part > 0 else { continue }
                let pixel = output + 4 * column
                for channel in 0..<4 {
                    let mixed = line[channel] * part + Double(pixel[channel]) * (1 - part * color.alpha)
                    pixel[channel] = UInt8(min(max(mixed, 0), 255) + 0.5)
                }
            }
        }
    }
}
