package import FoundationEssentials

/// What the bytes of a decoder's rows mean.
package enum ScanlineLayout: Sendable, Hashable {
    /// One byte: grey.
    case gray8
    /// Three bytes: red, green, blue.
    case rgb8
    /// Four bytes: red, green, blue, alpha; not premultiplied.
    case rgba8
    /// Four bytes: cyan, magenta, yellow, black; 0 is no ink.
    case cmyk8
    /// Four bytes: blue, green, red, alpha; premultiplied, in sRGB. For decoders that write the final pixels themselves;
    /// a source of this layout has no colour profile.
    case bgra8Premultiplied
    /// Four floats: red, green, blue, alpha; not premultiplied. 0...1 are the numbers of the file, which stand for what
    /// ``ScanlineSource/colorProfile`` or ``ScanlineSource/color`` say. For pictures of more than 8 bits that keep them, and for high
    /// dynamic range.
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

/// A decoder that hands out the rows of one picture, top row first, each once.
///
/// Formats that are stored row by row decode on demand, so that a thumbnail needs a few rows of memory and not a picture;
/// others decode as a whole and hand out rows of that.
package protocol ScanlineSource: AnyObject {
    /// Width in pixels of the rows handed out: of the stored picture, or less if the decoder scales.
    var width: Int { get }
    /// Number of rows.
    var height: Int { get }
    /// How much of `width` and `height` the picture covers: a decoder that scales rounds up, and its last column and row
    /// may then be only partly picture. By default all.
    var extent: (width: Double, height: Double) { get }
    var layout: ScanlineLayout { get }
    /// The embedded ICC profile, nil for sRGB.
    var colorProfile: Data? { get }
    /// What the numbers of ``ScanlineLayout/rgbaFloat`` stand for when there is no profile, nil for sRGB. By default nil; other
    /// layouts do not look at it.
    var color: SourceColor? { get }

    /// Writes the next `count` rows to `base`, `bytesPerRow` apart.
    ///
    /// - Throws: ``WebImageError/Code/badImageData`` when the data is damaged or ends too early,
    ///   ``WebImageError/Code/limitExceeded``.
    func readRows(_ count: Int, into base: UnsafeMutableRawPointer, bytesPerRow: Int) throws(WebImageError)
}

extension ScanlineSource {
    package var extent: (width: Double, height: Double) { (Double(width), Double(height)) }
    package var color: SourceColor? { nil }
}
