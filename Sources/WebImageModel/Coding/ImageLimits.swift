/// What decoders refuse before they ask for memory.
///
/// Every limit is checked from the header, and again inside the decoder's loops where a file can lie. Exceeding one is an
/// error with ``WebImageError/Code/limitExceeded`` whose ``WebImageError/limit`` names the property.
public struct ImageLimits: Sendable, Hashable {
    /// Most pixels (width × height) of one frame. 268 402 689 by default, the square of 16 383.
    public var maximumPixelCount: Int = 268_402_689
    /// Most pixels along one side. 65 535 by default; more than 16 777 216 are refused whatever this says, so that sizes
    /// in bytes can be computed without overflow.
    public var maximumSideLength: Int = 65_535
    /// Most bytes of encoded data. 256 MiB by default.
    public var maximumEncodedByteCount: Int = 256 << 20
    /// Most bytes of decoded pixels that one decode may produce, after scaling, or that a decoder must hold for that. 1 GiB by default.
    ///
    /// HEIC, AVIF, JPEG XL and lossless WebP are decoded at full size for a thumbnail, too, so this limits how big an image can be of
    /// which a thumbnail is made: by default a HEIC of 8 bits has at most some 200 million pixels, one of 10 bits some 110 million.
    public var maximumDecodedByteCount: Int = 1 << 30
    /// Most frames of an animation; a file with more is refused. 10 000 by default.
    public var maximumFrameCount: Int = 10_000
    /// Most scans of a progressive JPEG. 500 by default.
    public var maximumScanCount: Int = 500
    /// Most bytes of an embedded colour profile; a bigger one is ignored. 4 MiB by default.
    public var maximumColorProfileByteCount: Int = 4 << 20
    /// Most seconds that one picture may take to decode; more are ``WebImageError/Code/decodeTimedOut``. Nil, the default, is no limit.
    ///
    /// Counted from before anything is done with the bytes and looked at every few rows, for JPEG in each of its scans. A decoder that
    /// makes the whole picture in one step (WebP, GIF, interlaced PNG) ends only after that step. What is decoded while a
    /// picture arrives, previews among it, has as much time of its own: the whole is decoded anew where that was not enough. SVG is ended
    /// with its worker; nothing ends one that is drawn in this process.
    public var maximumDecodeDuration: Double?

    /// What no limit allows: longer than any format has.
    package static let longestSide = 1 << 24

    /// The defaults.
    public init() {}

    /// Checks the bytes that a decoder is about to ask for: pixels of the result, or what it must hold to make them.
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

    /// Checks the size of a picture.
    ///
    /// - Throws: ``WebImageError/Code/limitExceeded``, or ``WebImageError/Code/badImageData`` for a side below 1.
    public func check(width: Int, height: Int) throws(WebImageError) {
        guard width > 0, height > 0 else {
            throw WebImageError(.badImageData, "the picture has 0 pixels (\(width)x\(height))")
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
    /// What the results of effects must keep to: the limits the picture was decoded within.
    package var effectLimits: ImageLimits { decodeOptions?.limits ?? ImageLimits() }

    /// Of the options only the limits, which later effects must keep to as well; nil if those are the usual ones.
    package var limitsAlone: ImageDecodeOptions? {
        guard let limits = decodeOptions?.limits, limits != ImageLimits() else { return nil }
        var options = ImageDecodeOptions()
        options.limits = limits
        return options
    }
}
