/// The size of an image in memory, known before the image exists.
///
/// Values out of range are clamped to the nearest valid ones.
public struct ImageExtent: Sendable, Hashable {
    /// The width of the upright image in pixels, 0 to 2²⁴.
    public var width: Int { didSet { width = Self.side(width) } }
    /// The height of the upright image in pixels, 0 to 2²⁴.
    public var height: Int { didSet { height = Self.side(height) } }
    /// The number of bytes per pixel: 3, 4, or 8 for high bit depth.
    public var bytesPerPixel: Int { didSet { bytesPerPixel = Self.bytes(bytesPerPixel) } }
    /// The number of pixels per point, at least 1.
    package var scale: Double { didSet { scale = Self.factor(scale) } }
    /// Indicates whether the pixels are stored upright. If not, effects rotate them first, which takes a copy.
    package var isUpright: Bool
    /// The limits that apply to images made from this one.
    package var limits: ImageLimits

    /// Creates the extent of an image of that size.
    ///
    /// - Parameters:
    ///   - width: of the upright image, in pixels.
    ///   - height: of the upright image, in pixels.
    ///   - bytesPerPixel: 3, 4, or 8 for high bit depth; 4 by default.
    ///   - scale: the number of pixels per point; 1 by default.
    ///   - isUpright: whether the pixels are stored upright; true by default.
    ///   - limits: the limits that apply to images made from this one.
    package init(
        width: Int,
        height: Int,
        bytesPerPixel: Int = 4,
        scale: Double = 1,
        isUpright: Bool = true,
        limits: ImageLimits = ImageLimits()
    ) {
        self.width = Self.side(width)
        self.height = Self.side(height)
        self.bytesPerPixel = Self.bytes(bytesPerPixel)
        self.scale = Self.factor(scale)
        self.isUpright = isUpright
        self.limits = limits
    }

    /// Creates the extent of an image.
    package init(_ image: Image) {
        let swaps = image.orientation.swapsSides
        self.init(
            width: swaps ? image.pixelHeight : image.pixelWidth,
            height: swaps ? image.pixelWidth : image.pixelHeight,
            bytesPerPixel: image.bitmap.pixelFormat.bytesPerPixel,
            scale: image.scale,
            isUpright: image.orientation == .up,
            limits: image.effectLimits
        )
    }

    /// Creates the extent of any frame of an animation: the first may be opaque when others are not.
    package init(frameOf animation: AnimatedImage) {
        self.init(animation.image)
        bytesPerPixel = max(bytesPerPixel, 4)
    }

    /// The number of bytes of the pixels, with rows and the memory block rounded up; never more than 2⁴⁸, whatever the sides.
    public var byteCount: Int {
        min(BufferPool.blockSize(min(((width * bytesPerPixel + 3) & ~3) * height, Self.most)), Self.most)
    }

    private static func side(_ count: Int) -> Int { min(max(count, 0), ImageLimits.longestSide) }
    private static func bytes(_ count: Int) -> Int { min(max(count, 0), 16) }
    private static func factor(_ scale: Double) -> Double { scale.isFinite ? max(scale, 1) : 1 }

    /// A number above any limit, and small enough to be added up.
    static let most = 1 << 48
}

extension ImageExtent {
    /// Returns the extent of an upright image made from this one; without pixels if the limits refuse it.
    package func making(_ width: Int, _ height: Int, bytesPerPixel: Int? = nil) -> ImageExtent {
        var made = self
        (made.width, made.height, made.isUpright) = (width, height, true)
        made.bytesPerPixel = bytesPerPixel ?? self.bytesPerPixel
        if width <= 0 || height <= 0 || !isAllowed(made) { (made.width, made.height) = (0, 0) }
        return made
    }

    private func isAllowed(_ made: ImageExtent) -> Bool {
        do throws(WebImageError) {
            try limits.check(width: made.width, height: made.height)
            try limits.check(decodedByteCount: made.width * made.height * made.bytesPerPixel)
            return true
        } catch {
            return false
        }
    }

    /// Returns the extent of an upright image of this size.
    package func making(bytesPerPixel: Int? = nil) -> ImageExtent {
        making(width, height, bytesPerPixel: bytesPerPixel)
    }

    /// The number of bytes per pixel after conversion to 8 bits per component.
    package var narrowBytesPerPixel: Int { min(bytesPerPixel, 4) }

    /// The number of bytes of an upright copy; 0 if the pixels are already upright.
    package var uprightByteCount: Int { isUpright ? 0 : byteCount }

    /// The number of bytes of the upright copy and of the copies with 8 bits per component; 0 if neither is needed.
    package var narrowUprightByteCount: Int { uprightByteCount + (bytesPerPixel > 4 ? byteCount : 0) }
}
