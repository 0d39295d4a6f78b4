package import FoundationEssentials

/// The rows of a picture that is still arriving, as far as they are there.
package protocol ArrivedRows: AnyObject {
    /// Width in pixels, as the decoder hands it out.
    var width: Int { get }
    /// Number of rows of the whole picture.
    var height: Int { get }
    /// How much of `width` and `height` the picture covers; see ``ScanlineSource/extent``.
    var extent: (width: Double, height: Double) { get }
    var layout: ScanlineLayout { get }
    /// The embedded ICC profile, nil for sRGB.
    var colorProfile: Data? { get }

    /// The pixels of a row, valid until the next call; nil when they are not there yet. Asked for from the top down.
    ///
    /// - Throws: ``WebImageError/Code/outOfMemory`` and what else a decoder may throw.
    func row(_ row: Int) throws(WebImageError) -> UnsafePointer<UInt8>?
}
