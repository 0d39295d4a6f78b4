import CRAWShims
public import FoundationEssentials
public import WebImageCodecs

/// Decodes raw files of cameras with LibRaw: CR2, CR3, NEF, ARW, DNG, RAF, RW2, ORF, PEF and SRW.
///
/// By default the embedded preview is decoded, as the camera rendered it: the smallest one that covers the thumbnail size, or the largest. It may be
/// smaller than the image of the sensor, whose size ``properties(of:limits:)`` returns; ``WebImage/ImageMetadata/sourceWidth`` and
/// ``WebImage/ImageMetadata/sourceHeight`` are those of the largest preview. A file without a preview is
/// ``WebImage/WebImageError/Code/previewNotFound``.
///
/// With ``WebImage/ImageDecodeOptions/RawDevelopment/full`` the raw data is developed: the camera's white balance, LibRaw's interpolation (AHD) and
/// automatic brightness, in sRGB. This takes seconds for an image of 24 megapixels. A thumbnail of at most half the size is developed at half the
/// size, without interpolation. ``WebImage/ImageDecodeOptions/decodeToHDR`` keeps 16 bits. Of files with several images the first is developed. The
/// memory for it must fit into ``WebImage/ImageLimits/maximumDecodedByteCount``, and is checked before it is allocated.
///
/// The orientation of the file is applied to both. Damaged raw data is an error if LibRaw detects it, and so is a DNG that ends too early. Other
/// missing parts of the raw data can show earlier contents of the memory; in a worker they are zeros.
///
/// LibRaw parses the formats of hundreds of cameras, so `WebImageFormats.registerAll()` registers
/// `IsolatedImageCoder(DecodeIsolation(formats: [.raw]), base: RAWCoder())`. Register `RAWCoder()` itself only for files you trust; it does
/// not develop RAF and CR3, whose damaged files end LibRaw's process. Encoding is not supported.
public struct RAWCoder: ImageCoder {
    /// Creates a coder.
    public init() {}

    /// Returns whether the data begins like a camera's raw file.
    public func canDecode(_ data: Data) -> Bool { ImageFormat(detecting: data) == .raw }

    /// Reads the properties of the sensor's image from the header: its size before the orientation is applied, the orientation, the bits of a sample.
    /// The limits of pixels do not apply to it: by default a preview is decoded, to which they apply, as to a developed image.
    ///
    /// - Throws: ``WebImage/WebImageError/Code/badImageData``, also for an unknown camera, ``WebImage/WebImageError/Code/outOfMemory``,
    ///   ``WebImage/WebImageError/Code/decodeTimedOut``.
    public func properties(of data: Data, limits: ImageLimits) throws(WebImageError) -> ImageProperties {
        try data.withBytes { (bytes) throws(WebImageError) in
            try RAWFile(bytes, deadline: DecodeDeadline(limits)).properties
        }
    }

    /// Decodes the embedded preview, or develops the raw data.
    ///
    /// - Throws: ``WebImage/WebImageError/Code/badImageData``, ``WebImage/WebImageError/Code/previewNotFound``,
    ///   ``WebImage/WebImageError/Code/limitExceeded``, ``WebImage/WebImageError/Code/outOfMemory``,
    ///   ``WebImage/WebImageError/Code/unsupportedFormat`` for raw data that LibRaw does not develop,
    ///   ``WebImage/WebImageError/Code/decodeTimedOut``.
    public func decode(_ data: Data, options: ImageDecodeOptions) throws(WebImageError) -> Image {
        let deadline = DecodeDeadline(options.limits)
        let start = SuspendingClock.now
        return try data.withBytes { (bytes) throws(WebImageError) in
            let file = try RAWFile(bytes, deadline: deadline)
            switch options.rawDevelopment {
            case .preview:
                let decode = try RAWPreviewDecode(file, options, since: start)
                try deadline?.check()
                return try decode.image()
            case .full: return try RAWDevelopment(file, options).image(deadline)
            }
        }
    }

    /// Returns the memory cost of a decode: that of the preview's JPEG; or the sensor's data, an image of 8 bytes for each pixel, and the result.
    /// Cost: reads the header.
    public func memoryNeed(of data: Data, options: ImageDecodeOptions) throws(WebImageError) -> DecodeMemoryNeed {
        try data.withBytes { (bytes) throws(WebImageError) in
            let file = try RAWFile(bytes, deadline: DecodeDeadline(options.limits))
            switch options.rawDevelopment {
            case .preview: return try RAWPreviewDecode(file, options).memoryNeed()
            case .full: return try RAWDevelopment(file, options).memoryNeed
            }
        }
    }

    /// Returns false.
    public func canEncode(to format: ImageFormat) -> Bool { false }

    /// Throws ``WebImage/WebImageError/Code/unsupportedFormat``.
    public func encode(
        _ image: Image,
        to format: ImageFormat,
        options: ImageEncodeOptions
    ) throws(WebImageError) -> Data {
        throw WebImageError(.unsupportedFormat, "encoding raw files is not supported")
    }
}
