import CPixels
import Glibc

/// The pixels that frames are drawn on: premultiplied BGRA, initially transparent.
struct AnimationCanvas {
    private var bitmap: Bitmap
    /// The rectangle of the last drawn frame, and its pixels before that frame.
    private var saved: (pixels: Bitmap, area: Area)?

    /// A non-empty part of the canvas.
    private struct Area {
        var x: Int
        var y: Int
        var width: Int
        var height: Int
    }

    /// - Throws: ``WebImageError/Code/limitExceeded``, ``WebImageError/Code/outOfMemory``.
    init(width: Int, height: Int) throws(WebImageError) {
        bitmap = try .allocate(width: width, height: height, pixelFormat: .bgra8Premultiplied)
        clear()
    }

    /// Returns a copy of the canvas, in new memory or in that of `spare`, a canvas of the same size that is no longer used.
    ///
    /// - Throws: ``WebImageError/Code/outOfMemory``.
    func copy(into spare: AnimationCanvas? = nil) throws(WebImageError) -> AnimationCanvas {
        var copy = self
        if let spare {
            copy.bitmap = spare.bitmap
        } else {
            copy.bitmap = try .allocate(width: bitmap.width, height: bitmap.height, pixelFormat: bitmap.pixelFormat)
        }
        // Saved pixels are never written again, so the copy can share them.
        memcpy(copy.bitmap.mutableRow(0), bitmap.mutableRow(0), bitmap.bytesPerRow * bitmap.height)
        return copy
    }

    /// Makes everything transparent.
    mutating func clear() {
        saved = nil
        for row in 0..<bitmap.height { memset(bitmap.mutableRow(row), 0, bitmap.width * 4) }
    }

    /// Draws the pixels of a frame, clipped to the canvas.
    ///
    /// - Parameter saves: keep the covered pixels for ``restore()``.
    /// - Throws: ``WebImageError/Code/outOfMemory``.
    mutating func draw(_ pixels: Bitmap, _ frame: AnimationFrame, saves: Bool) throws(WebImageError) {
        if pixels.pixelFormat == .rgbaHalfPremultiplied {
            return try draw(pixels.converted(to: .bgra8Premultiplied), frame, saves: saves)
        }
        saved = nil
        guard let area = area(of: frame) else { return }
        if saves { saved = (try copy(area), area) }
        for row in 0..<area.height {
            let source = pixels.mutableRow(area.y - frame.top + row)
                .advanced(by: (area.x - frame.left) * pixels.pixelFormat.bytesPerPixel)
                .assumingMemoryBound(to: UInt8.self)
            let target = pointer(area, row)
            switch pixels.pixelFormat {
            case .rgb8: cpixels_rgb_to_bgra(source, target, area.width)
            case .bgra8Premultiplied where frame.replaces: memcpy(target, source, area.width * 4)
            case .bgra8Premultiplied: cpixels_bgra_over_bgra(source, target, area.width)
            // Converted to 8 bits above.
            case .rgbaHalfPremultiplied: break
            }
        }
    }

    /// Makes the rectangle of a frame transparent.
    mutating func erase(_ frame: AnimationFrame) {
        saved = nil
        guard let area = area(of: frame) else { return }
        for row in 0..<area.height { memset(pointer(area, row), 0, area.width * 4) }
    }

    /// Restores the pixels that the last drawn frame has covered.
    mutating func restore() {
        guard let (pixels, area) = saved else { return }
        for row in 0..<area.height { memcpy(pointer(area, row), pixels.mutableRow(row), area.width * 4) }
        saved = nil
    }

    /// Returns a copy of the canvas at the given size, without alpha if it is opaque.
    ///
    /// - Throws: ``WebImageError/Code/outOfMemory``.
    func makeBitmap(
        width: Int,
        height: Int,
        isOpaque: Bool,
        quality: ImageDecodeOptions.ScalingQuality
    ) throws(WebImageError) -> Bitmap {
        let isSameSize = width == bitmap.width && height == bitmap.height
        let sized = try Resampler.resize(bitmap, width: width, height: height, quality: quality)
        guard isOpaque || isSameSize else { return sized }
        let result = try Bitmap.allocate(
            width: width,
            height: height,
            pixelFormat: isOpaque ? .rgb8 : .bgra8Premultiplied
        )
        for row in 0..<height {
            let source = sized.mutableRow(row).assumingMemoryBound(to: UInt8.self)
            let target = result.mutableRow(row).assumingMemoryBound(to: UInt8.self)
            // Opaque pixels look the same on any colour.
            if isOpaque {
                cpixels_bgra_onto_color(source, target, width, 0, 0, 0)
            } else {
                memcpy(target, source, width * 4)
            }
        }
        return result
    }

    private func pointer(_ area: Area, _ row: Int) -> UnsafeMutablePointer<UInt8> {
        bitmap.mutableRow(area.y + row).advanced(by: area.x * 4).assumingMemoryBound(to: UInt8.self)
    }

    /// Returns the part of a frame that lies on the canvas.
    private func area(of frame: AnimationFrame) -> Area? {
        let (x, y) = (max(frame.left, 0), max(frame.top, 0))
        let width = min(frame.left + frame.width, bitmap.width) - x
        let height = min(frame.top + frame.height, bitmap.height) - y
        return width > 0 && height > 0 ? Area(x: x, y: y, width: width, height: height) : nil
    }

    private func copy(_ area: Area) throws(WebImageError) -> Bitmap {
        let copy = try Bitmap.allocate(width: area.width, height: area.height, pixelFormat: .bgra8Premultiplied)
        for row in 0..<area.height { memcpy(copy.mutableRow(row), pointer(area, row), area.width * 4) }
        return copy
    }
}
