public import WebImage
import WebImageAVIF
import WebImageHEIF
import WebImageJPEGXL
import WebImageSVG
import WebImageTIFF

/// All formats that are products of their own, together.
public enum WebImageFormats {
    /// A coder of each format, in the order in which they are registered.
    public static var coders: [any ImageCoder] { [TIFFCoder(), SVGCoder(), AVIFCoder(), HEIFCoder(), JPEGXLCoder()] }

    /// Registers the coders of all formats: TIFF, SVG, AVIF, HEIF, JPEG XL. Those that are registered already stay where they are, so a
    /// second call changes nothing.
    ///
    /// - Parameter manager: where to register them; the shared manager by default.
    public static func registerAll(in manager: ImageCodersManager = .shared) { manager.addMissing(coders) }
}
