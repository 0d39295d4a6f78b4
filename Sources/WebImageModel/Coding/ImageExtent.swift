/// How big a picture is in memory, known before there is one.
///
/// Numbers that no picture has are made the nearest that one could have.
public struct ImageExtent: Sendable, Hashable {
    /// Width of the upright picture in pixels, 0 to 2²⁴.
    public var width: Int { didSet { width = Self.side(width) } }
    /// Height of the upright picture in pixels, 0 to 2²⁴.
    public var height: Int { didSet { height = Self.side(height) } }
    /// Bytes of a pixel: 3, 4, or 8 of a wide one.
    public var bytesPerPixel: Int { didSet { bytesPerPixel = Self.bytes(bytesPerPixel) } }
    /// Pixels of a point, 1 at least.
    public var scale: Double { didSet { scale = Self.factor(scale) } }
    /// Whether the pixels lie as they are seen. If not, effects turn them first, which takes a copy.
    public var isUpright: Bool
    /// What is made of the picture must keep to these.
    public var limits: ImageLimits

    /// A picture of that size.
    ///
    /// - Parameters:
    ///   - width: of the upright picture, in pixels.
    ///   - height: of the upright picture, in pixels.
    ///   - bytesPerPixel: 3, 4, or 8 of a wide picture; 4 by default.
    ///   - scale: pixels of a point; 1 by default.
    ///   - isUpright: whether the pixels lie as they are seen; true by default.
    ///   - limits: what is made of the picture must keep to these.
    public init(
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

    /// That of an image.
    public init(_ image: Image) {
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

    /// That of a frame of an animation: the first may be opaque where others are not.
    package init(frameOf animation: AnimatedImage) {
        self.init(animation.image)
        bytesPerPixel = max(bytesPerPixel, 4)
    }

    /// Bytes of the pixels, with what rounds rows and the block of memory up; never more than 2⁴⁸, whatever the sides.
    public var byteCount: Int {
        min(BufferPool.blockSize(min(((width * bytesPerPixel + 3) & ~3) * height, Self.most)), Self.most)
    }

    private static func side(_ count: Int) -> Int { min(max(count, 0), ImageLimits.longestSide) }
    private static func bytes(_ count: Int) -> Int { min(max(count, 0), 16) }
    private static func factor(_ scale: Double) -> Double { scale.isFinite ? max(scale, 1) : 1 }

    /// More than any limit, and little enough to be added up.
    static let most = 1 << 48
}

extension ImageExtent {
    /// The upright picture that is made of this one; one of no pixels where the limits refuse it.
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

    /// The upright picture of this size.
    package func making(bytesPerPixel: Int? = nil) -> ImageExtent {
        making(width, height, bytesPerPixel: bytesPerPixel)
    }

    /// Bytes of a pixel once it has 8 bits a component.
    package var narrowBytesPerPixel: Int { min(bytesPerPixel, 4) }

    /// Bytes of the copy whose pixels lie as they are seen; 0 if they do.
    package var uprightByteCount: Int { isUpright ? 0 : byteCount }

    /// Bytes of that and of the copies that have 8 bits a component; 0 if the pixels have already.
    package var narrowUprightByteCount: Int { uprightByteCount + (bytesPerPixel > 4 ? byteCount : 0) }
}
