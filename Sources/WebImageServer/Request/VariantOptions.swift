package import WebImage

/// The processing of an image and its answer: the options of a request as a value. All defaults are imgproxy's.
///
/// The order of the operations is fixed, whatever the order in the URL: trim, crop, scale, rotate and flip, crop to the result,
/// effects, extend, padding, background, watermark, encode. Optional values that are nil stand for the server's setting.
package struct VariantOptions: Sendable, Hashable {
    // MARK: Size

    /// The way in which the image is resized to ``width`` and ``height``.
    package var resizingType = VariantResizingType.fit
    /// The width of the result, before ``dpr``.
    package var width = VariantLength.automatic
    /// The height of the result, before ``dpr``.
    package var height = VariantLength.automatic
    /// Indicates whether width and height are exchanged if that fits the orientation of the source better (thumbor's `adaptive-`).
    package var isAdaptive = false
    /// The smallest width of the result in pixels, before ``dpr``; 0 for none.
    package var minWidth = 0
    /// The smallest height of the result in pixels, before ``dpr``; 0 for none.
    package var minHeight = 0
    /// The factor by which the width is multiplied after resizing; greater than 0.
    package var zoomWidth = 1.0
    /// The factor by which the height is multiplied after resizing; greater than 0.
    package var zoomHeight = 1.0
    /// The pixels per point: multiplies sizes, padding, and offsets in pixels. Greater than 0.
    package var dpr = 1.0
    /// Indicates whether an image that is smaller than the size is enlarged.
    package var enlarge = false
    /// Extends an image that is smaller than the size to it.
    package var extend = VariantExtension()
    /// Extends the image to the aspect ratio of the size.
    package var extendAspectRatio = VariantExtension()

    // MARK: Parts of the image

    /// The part that stays if the image is cropped to the result.
    package var gravity = VariantGravity()
    /// The part of the source that is processed.
    package var crop = VariantCrop()
    /// A part of interest that the client found, in pixels of the source (thumbor's `focal`): its centre
    /// is the gravity if it is not nil.
    package var focalRegion: VariantRegion?
    /// Removal of a surrounding border of one colour.
    package var trim = VariantTrim()
    /// The space added around the result.
    package var padding = VariantPadding()

    // MARK: Orientation

    /// Indicates whether the orientation in the metadata is applied.
    package var autoRotate: Bool?
    /// The clockwise rotation in degrees: 0, 90, 180 or 270.
    package var rotate = 0
    /// Indicates whether the image is mirrored at its vertical axis, after the rotation.
    package var flipHorizontal = false
    /// Indicates whether the image is mirrored at its horizontal axis, after the rotation.
    package var flipVertical = false
    /// The clockwise rotation of the finished image in degrees: 0, 90, 180 or 270 (thumbor's `rotate`). Sizes and gravity are those
    /// before it.
    package var resultRotation = 0

    // MARK: Colours and effects

    /// The colour behind transparent pixels, padding and extensions; nil for none.
    package var background: VariantBackground?
    /// The standard deviation of the Gaussian blur in pixels; 0 for none.
    package var blur = 0.0
    /// The standard deviation of the sharpening in pixels; 0 for none.
    package var sharpen = 0.0
    /// The side of the squares to which the image is reduced, in pixels; 0 and 1 for none.
    package var pixelate = 0
    /// Changes of colour, applied in this order after blur and sharpening.
    package var colorEffects: [VariantColorEffect] = []
    /// An image that is drawn over the result.
    package var watermark = VariantWatermark()

    // MARK: Encoding

    /// The format of the result; nil if it is negotiated.
    package var format: ImageFormat?
    /// The quality of lossy formats, 1...100; 0 for ``formatQuality``, then the server's.
    package var quality = 0
    /// The quality by format, 1...100, for formats where it differs; used if ``quality`` is 0.
    package var formatQuality: [ImageFormat: Int] = [:]
    /// The limit of the result's size in bytes: the quality is reduced until it fits; 0 for none.
    package var maxBytes = 0
    /// Indicates whether metadata is removed.
    package var stripMetadata: Bool?
    /// Indicates whether copyright notices stay when metadata is removed.
    package var keepCopyright: Bool?
    /// Indicates whether pixels are converted to sRGB and the profile removed.
    package var stripColorProfile: Bool?
    /// Indicates whether more than 8 bits per component are kept.
    package var preserveHDR: Bool?
    /// Indicates whether the thumbnail within a HEIC or AVIF file is used instead of its image.
    package var enforceThumbnail: Bool?

    // MARK: Limits, below those of the server

    /// The limits of this request.
    package var limits = VariantLimits()

    // MARK: Answer

    /// Formats of sources that are not processed, if they are also the format of the result.
    package var skipProcessing: Set<ImageFormat> = []
    /// Indicates whether the source is answered unchanged and unchecked.
    package var raw = false
    /// A text without meaning whose change makes another result.
    package var cacheBuster: String?
    /// The end of the URL's validity in seconds since 1970; nil for none. Grammars refuse URLs that have expired.
    package var expires: Int64?
    /// The name of the file in `Content-Disposition`; nil for that of the source.
    package var filename: String?
    /// Indicates whether the answer is offered as a download.
    package var returnAttachment: Bool?
    /// The `max-age` of the answer in seconds, nil for the server's (thumbor's `max_age`).
    package var maxAge: Int?

    /// Creates the options that change nothing.
    package init() {}

    /// The same options without those that do not change the bytes of the result (expiry, file name, attachment, age), and with
    /// unused arguments of options that are off removed: a part of the key under which results are stored.
    package var canonical: VariantOptions {
        var result = self
        if !extend.isEnabled { result.extend = VariantExtension() }
        if !extendAspectRatio.isEnabled { result.extendAspectRatio = VariantExtension() }
        if trim.threshold == nil { result.trim = VariantTrim() }
        if watermark.opacity <= 0 { result.watermark = VariantWatermark() }
        if quality > 0 { result.formatQuality = [:] }
        if pixelate <= 1 { result.pixelate = 0 }
        (result.expires, result.filename, result.returnAttachment, result.maxAge) = (nil, nil, nil, nil)
        return result
    }
}
