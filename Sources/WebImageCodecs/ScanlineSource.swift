package import FoundationEssentials

/// The meaning of the bytes in a decoder's rows.
package enum ScanlineLayout: Sendable, Hashable {
    /// One byte: grey.
    case gray8
    /// Three bytes: red, green, blue.
    case rgb8
    /// Four bytes: red, green, blue, alpha; not premultiplied.
    case rgba8
    /// Four bytes: cyan, magenta, yellow, black; 0 means no ink.
    case cmyk8
    /// Four bytes: blue, green, red, alpha; premultiplied, in sRGB. For decoders that write the final pixels themselves;
    /// a source of this layout has no colour profile.
    case bgra8Premultiplied
    /// Four floats: red, green, blue, alpha; not premultiplied. 0...1 is the range of the file's numbers; ``ScanlineSource/colorProfile`` or
    /// ``ScanlineSource/color`` define their meaning. For images that keep more than 8 bits, and for high dynamic range.
    case rgbaFloat

    package var bytesPerPixel: Int {
        switch self {
        case .gray8: 1
        case .rgb8: 3
        case .rgba8, .cmyk8, .bgra8Premultiplied: 4
        case .rgbaFloat: 16
        }
    }
}

/// A decoder that returns the rows of one image, each once, from the top.
///
/// Formats that are stored row by row decode on demand, so a thumbnail needs memory for a few rows only. Other formats decode the complete image and
/// return rows of it.
package protocol ScanlineSource: AnyObject {
    /// The width of the returned rows in pixels: that of the stored image, or less if the decoder scales.
    var width: Int { get }
    /// The number of rows.
    var height: Int { get }
    /// The part of `width` and `height` that the image covers. A decoder that scales rounds up, so the image may cover its last column and row only
    /// partly. By default everything.
    var extent: (width: Double, height: Double) { get }
    var layout: ScanlineLayout { get }
    /// The embedded ICC profile; nil for sRGB.
    var colorProfile: Data? { get }
    /// The colour space of ``ScanlineLayout/rgbaFloat`` rows without a profile; nil, the default, for sRGB. Ignored for other layouts.
    var color: SourceColor? { get }

    /// Writes the next `count` rows to `base`, `bytesPerRow` apart.
    ///
    /// - Throws: ``WebImageError/Code/badImageData`` when the data is damaged or ends too early,
    ///   ``WebImageError/Code/limitExceeded``.
    func readRows(_ count: Int, into base: UnsafeMutableRawPointer, bytesPerRow: Int) throws(WebImageError)

    /// The number of pixels that are decoded for all rows; more than those of the rows if the decoder scales.
    var decodedPixelCount: Int { get }

    /// A Boolean value that indicates whether rows can be read from any row on, by several threads at the same time. The default is false.
    var isRandomAccess: Bool { get }

    /// Returns a source of the same rows whose next row is `row`, for one thread. Only called if ``isRandomAccess``.
    ///
    /// - Throws: ``WebImageError/Code/outOfMemory``.
    func source(from row: Int) throws(WebImageError) -> any ScanlineSource
}

extension ScanlineSource {
    package var extent: (width: Double, height: Double) { (Double(width), Double(height)) }
    package var color: SourceColor? { nil }
    package var decodedPixelCount: Int { width * height }
    package var isRandomAccess: Bool { false }
    package func source(from row: Int) throws(WebImageError) -> any ScanlineSource { self }
}
