/// Limits that decoders check before they allocate memory.
///
/// Every limit is checked from the header, and again inside the decoder's loops if a file can lie. Exceeding one is an error with
/// ``WebImageError/Code/limitExceeded`` whose ``WebImageError/limit`` names the property.
public struct ImageLimits: Sendable, Hashable {
    /// The maximum number of pixels (width × height) of one frame. 268 402 689 by default, the square of 16 383.
    public var maximumPixelCount: Int = 268_402_689
    /// The maximum number of pixels along one side. 65 535 by default; more than 16 777 216 are always refused, so that sizes in
    /// bytes can be computed without overflow.
    public var maximumSideLength: Int = 65_535
    /// The maximum number of bytes of encoded data. 256 MiB by default.
    public var maximumEncodedByteCount: Int = 256 << 20
    /// The maximum number of bytes of decoded pixels that one decode may produce, after scaling, or that a decoder must hold for
    /// that. 1 GiB by default.
    ///
    /// HEIC, AVIF, JPEG XL and lossless WebP are decoded at full size for a thumbnail, too, so this limits how big an image can be
    /// thumbnailed: by default a HEIC of 8 bits has at most some 200 million pixels, one of 10 bits some 110 million.
    public var maximumDecodedByteCount: Int = 1 << 30
    /// The maximum number of frames of an animation; a file with more is refused. 10 000 by default.
    public var maximumFrameCount: Int = 10_000
    /// The maximum number of scans of a progressive JPEG. 500 by default.
    public var maximumScanCount: Int = 500
    /// The maximum number of bytes of an embedded colour profile; a bigger one is ignored. 4 MiB by default.
    public var maximumColorProfileByteCount: Int = 4 << 20
    /// The maximum time to decode one image, in seconds; after it the decode fails with ``WebImageError/Code/decodeTimedOut``. Nil,
    /// the default, means no limit.
    ///
    /// Counted from the start of the decode and checked every few rows, for JPEG in each of its scans. A decoder that makes the
    /// whole image in one step (WebP, GIF, interlaced PNG) stops only after that step. Progressive decoding during the download,
    /// including previews, has a separate allowance of the same length; if that is exceeded, the complete data is decoded again.
    /// SVG, PDF and videos are stopped with their workers; SVG that is drawn in this process cannot be stopped.
    public var maximumDecodeDuration: Double?

    /// An upper bound for all limits: longer than any format allows.
    package static let longestSide = 1 << 24

    /// Creates the default limits.
    public init() {}

    /// Checks the bytes that a decoder is about to allocate: pixels of the result, or the memory to produce them.
    ///
    /// - Throws: ``WebImageError/Code/limitExceeded``.
    package func check(decodedByteCount: Int) throws(WebImageError) {
        guard decodedByteCount <= maximumDecodedByteCount else {
            throw .limitExceeded(
                "maximumDecodedByteCount",
                allowed: maximumDecodedByteCount,
                required: decodedByteCount
            )
        }
    }

    /// Checks the size of an image.
    ///
    /// - Throws: ``WebImageError/Code/limitExceeded``, or ``WebImageError/Code/badImageData`` for a side below 1.
    public func check(width: Int, height: Int) throws(WebImageError) {
        guard width > 0, height > 0 else {
            throw WebImageError(.badImageData, "the image has 0 pixels (\(width)x\(height))")
        }
        let side = max(width, height)
        let longest = min(maximumSideLength, Self.longestSide)
        guard side <= longest else {
            throw .limitExceeded("maximumSideLength", allowed: longest, required: side)
        }
        let (pixels, overflow) = width.multipliedReportingOverflow(by: height)
        guard !overflow, pixels <= maximumPixelCount else {
            throw .limitExceeded(
                "maximumPixelCount",
                allowed: maximumPixelCount,
                required: overflow ? .max : pixels
            )
        }
    }
}

extension Image {
    /// The limits for results of effects: those the image was decoded with.
    package var effectLimits: ImageLimits { decodeOptions?.limits ?? ImageLimits() }

    /// The decode options reduced to the limits, which later effects must obey as well; nil if those are the default ones.
    package var limitsOnly: ImageDecodeOptions? {
        guard let limits = decodeOptions?.limits, limits != ImageLimits() else { return nil }
        var options = ImageDecodeOptions()
        options.limits = limits
        return options
    }
}
