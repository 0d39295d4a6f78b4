package import FoundationEssentials

/// The rows of an image that are decoded so far, during an incremental decode.
package protocol ReceivedRows: AnyObject {
    /// The width of the decoder's rows in pixels.
    var width: Int { get }
    /// The number of rows of the complete image.
    var height: Int { get }
    /// The part of `width` and `height` that the image covers; see ``ScanlineSource/extent``.
    var extent: (width: Double, height: Double) { get }
    var layout: ScanlineLayout { get }
    /// The embedded ICC profile; nil for sRGB.
    var colorProfile: Data? { get }

    /// Returns the pixels of a row, valid until the next call; nil when they are not decoded yet. Called from the top down.
    ///
    /// - Throws: ``WebImageError/Code/outOfMemory`` and other errors of the decoder.
    func row(_ row: Int) throws(WebImageError) -> UnsafePointer<UInt8>?
}
