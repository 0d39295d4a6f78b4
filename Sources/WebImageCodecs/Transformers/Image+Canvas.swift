import CPixels
import Glibc

extension Image {
    /// Returns a rectangle of the upright pixels, in new memory.
    ///
    /// - Throws: ``WebImageError/Code/transformFailed`` for a rectangle that is not wholly within the image,
    ///   ``WebImageError/Code/outOfMemory``.
    package func croppedPixels(x: Int, y: Int, width: Int, height: Int) throws(WebImageError) -> Image {
        let upright = try uprightBitmap()
        guard x >= 0, y >= 0, width > 0, height > 0, x <= upright.width - width, y <= upright.height - height else {
            throw .untransformable("the part \(width)x\(height) at \(x),\(y) is not within the image")
        }
        return replacing(try upright.part(x: x, y: y, width: width, height: height).copy())
    }

    /// Returns a rectangle of the upright pixels at another size, resampled by Lanczos-3.
    ///
    /// - Parameters:
    ///   - area: the rectangle in pixels; its sides may lie within pixels. What is outside the image is ignored.
    ///   - width: the width of the result in pixels.
    ///   - height: the height of the result in pixels.
    /// - Throws: ``WebImageError/Code/transformFailed`` for an empty rectangle or size, ``WebImageError/Code/limitExceeded``,
    ///   ``WebImageError/Code/outOfMemory``.
    package func resampled(_ area: ImageRect, width: Int, height: Int) throws(WebImageError) -> Image {
        let upright = try uprightBitmap()
        guard area.isUsable, width > 0, height > 0 else { throw .untransformable("an empty part or size") }
        let (x, y) = (max(area.x, 0), max(area.y, 0))
        let seen = (
            x: x, y: y, width: min(area.x + area.width, Double(upright.width)) - x,
            height: min(area.y + area.height, Double(upright.height)) - y
        )
        guard seen.width > 0, seen.height > 0 else { throw .untransformable("the part is outside the image") }
        let isWhole = seen == (0, 0, Double(upright.width), Double(upright.height))
        if isWhole, width == upright.width, height == upright.height { return replacing(upright) }
        try effectLimits.check(width: width, height: height)
        try effectLimits.check(decodedByteCount: width * height * upright.pixelFormat.bytesPerPixel)
        return replacing(try Resampler.resize(upright, area: seen, width: width, height: height))
    }

    /// Returns the image rotated or mirrored: its upright pixels as an image that was stored with this orientation is shown.
    ///
    /// - Throws: ``WebImageError/Code/outOfMemory``.
    package func reoriented(_ orientation: ImageOrientation) throws(WebImageError) -> Image {
        replacing(try uprightBitmap().upright(from: orientation))
    }

    /// Returns the image on a larger one. Its own transparent pixels stay transparent.
    ///
    /// - Parameters:
    ///   - width: the width of the larger one in pixels.
    ///   - height: the height in pixels.
    ///   - x: the distance of the left edges.
    ///   - y: the distance of the top edges.
    ///   - color: the colour around the image; clear by default.
    /// - Throws: ``WebImageError/Code/transformFailed`` if the image does not lie within the canvas,
    ///   ``WebImageError/Code/limitExceeded``, ``WebImageError/Code/outOfMemory``.
    package func extended(
        toWidth width: Int,
        height: Int,
        x: Int,
        y: Int,
        color: ImageColor = .clear
    ) throws(WebImageError) -> Image {
        let source = try uprightBitmapIn8Bits().withAlpha()
        guard x >= 0, y >= 0, x <= width - source.width, y <= height - source.height else {
            throw .untransformable("the image does not lie within a canvas of \(width)x\(height)")
        }
        let result = try Bitmap.allocate((width, height), source.pixelFormat, within: effectLimits)
        let level = { (component: Double) in UInt8((component * color.alpha * 255).rounded()) }
        let pixel = [level(color.blue), level(color.green), level(color.red), color.alpha8]
        let around = (0..<width).flatMap { _ in pixel }
        for row in 0..<height {
            let output = result.bytes(row)
            memcpy(output, around, width * 4)
            guard (y..<y + source.height).contains(row) else { continue }
            memcpy(output + x * 4, source.bytes(row - y), source.width * 4)
        }
        return replacing(result)
    }

    /// Returns the image on an opaque colour; the same if it is opaque.
    ///
    /// - Parameter color: the colour; its alpha is ignored.
    /// - Throws: ``WebImageError/Code/outOfMemory``.
    package func flattened(onto color: ImageColor) throws(WebImageError) -> Image {
        replacing(try uprightBitmapIn8Bits().flattened(onto: color))
    }

    /// The mean colour of the pixels, each weighted with its alpha; clear if all are transparent.
    ///
    /// - Throws: ``WebImageError/Code/outOfMemory``.
    package func meanColor() throws(WebImageError) -> ImageColor {
        let bitmap = try uprightBitmapIn8Bits()
        let count = bitmap.pixelFormat.bytesPerPixel
        var sums = [0, 0, 0, 0]
        for row in 0..<bitmap.height {
            let bytes = bitmap.bytes(row)
            for offset in stride(from: 0, to: bitmap.width * count, by: count) {
                for channel in 0..<count { sums[channel] += Int(bytes[offset + channel]) }
            }
        }
        let pixels = Double(bitmap.width * bitmap.height)
        if count == 3 {
            let parts = sums.map { Double($0) / pixels / 255 }
            return ImageColor(red: parts[0], green: parts[1], blue: parts[2])
        }
        guard sums[3] > 0 else { return .clear }
        let parts = sums.map { Double($0) / Double(sums[3]) }
        return ImageColor(red: parts[2], green: parts[1], blue: parts[0], alpha: Double(sums[3]) / pixels / 255)
    }

    /// Returns the image with another drawn over it. Opaque images stay opaque.
    ///
    /// - Parameters:
    ///   - overlay: the image that is drawn; what protrudes is cut off.
    ///   - x: the distance of its left edge from that of this image, in pixels; with repetition, of one of its copies.
    ///   - y: the distance of the top edges.
    ///   - opacity: 0...1.
    ///   - repeatsX: whether copies stand side by side over the whole width.
    ///   - repeatsY: whether copies stand one below the other over the whole height.
    /// - Throws: ``WebImageError/Code/outOfMemory``.
    package func drawing(
        _ overlay: Image,
        x: Int,
        y: Int,
        opacity: Double = 1,
        repeatsX: Bool = false,
        repeatsY: Bool = false
    ) throws(WebImageError) -> Image {
        let target = try uprightBitmapIn8Bits()
        let source = try overlay.uprightBitmapIn8Bits().withAlpha()
        let result = try target.copy()
        let level = Int((min(max(opacity, 0), 1) * 256).rounded())
        let lines = try ScratchBuffer(byteCount: result.width * 8)
        defer { withExtendedLifetime(lines) {} }
        let (line, pixels) = (lines.bytes, result.width * 4)
        for row in 0..<result.height {
            let from = repeatsY ? (row - y) - Self.floored(row - y, by: source.height) : row - y
            guard (0..<source.height).contains(from) else { continue }
            memset(line, 0, pixels)
            let start = repeatsX ? x - Self.floored(x, by: source.width) - source.width : x
            let end = repeatsX ? result.width : min(x + source.width, result.width)
            for left in stride(from: start, to: end, by: source.width) {
                let (first, last) = (max(left, 0), min(left + source.width, result.width))
                if first < last {
                    memcpy(line + first * 4, source.bytes(from) + (first - left) * 4, (last - first) * 4)
                }
            }
            if level < 256 {
                for index in 0..<pixels { line[index] = UInt8((Int(line[index]) * level + 128) >> 8) }
            }
            if result.pixelFormat == .rgb8 {
                let below = line + pixels
                cpixels_rgb_to_bgra(result.bytes(row), below, result.width)
                cpixels_bgra_over_bgra(line, below, result.width)
                cpixels_bgra_to_rgb(below, result.bytes(row), result.width)
            } else {
                cpixels_bgra_over_bgra(line, result.bytes(row), result.width)
            }
        }
        return replacing(result)
    }

    /// The greatest multiple of a length that is not greater than a number.
    private static func floored(_ number: Int, by length: Int) -> Int {
        let rest = number % length
        return number - (rest < 0 ? rest + length : rest)
    }
}

extension Bitmap {
    /// Returns 8-bit pixels on an opaque colour; the same bitmap if it has no alpha.
    func flattened(onto color: ImageColor) throws(WebImageError) -> Bitmap {
        guard pixelFormat.hasAlpha else { return self }
        let result = try Bitmap.allocate(width: width, height: height, pixelFormat: .rgb8)
        for row in 0..<height {
            cpixels_bgra_onto_color(bytes(row), result.bytes(row), width, color.red8, color.green8, color.blue8)
        }
        return result
    }
}
