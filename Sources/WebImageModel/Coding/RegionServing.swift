package import FoundationEssentials
import Glibc

/// A coder that keeps an image open to read parts of it.
///
/// The coder of a worker process is asked by the worker's main loop, and the coder that stands for it in the parent asks the worker.
package protocol RegionServingCoder: ImageCoder {
    /// Returns the coder that opens an image with such first bytes: this one, or one that this one combines; nil if there is none.
    func regionCoder(for beginning: Data) -> (any ImageCoder)?

    /// Opens an image.
    ///
    /// - Returns: nil if the coder can only decode the image as a whole.
    /// - Throws: the errors of decoding, and ``WebImageError/Code/badImageData`` if the image does not have the size in `setup`.
    func regionServer(of input: RegionInput, _ setup: RegionSetup) throws(WebImageError) -> (any RegionServer)?
}

/// Reads parts of one image. Used by one thread at a time.
package protocol RegionServer: AnyObject, Sendable {
    /// The rows of each level, as stored and from the top, that can be read before more rows of the image are passed.
    var readableRows: [Int] { get }
    /// The format of the bitmaps that ``readRows(_:width:)`` returns.
    var rowFormat: PixelFormat { get }

    /// Passes more rows of the image, for a few hundredths of a second, and returns the rows of each level that can be read then.
    func advance() throws(WebImageError) -> [Int]

    /// Returns a rectangle of a level, both upright. Passes rows first if necessary.
    func read(_ area: PixelArea, level: Int) throws(WebImageError) -> Image

    /// Returns the next rows of the full image, as stored. Only for images opened for their rows.
    ///
    /// - Parameter width: the width of the image as stored.
    func readRows(_ count: Int, width: Int) throws(WebImageError) -> Bitmap
}

/// How an image is opened by a ``RegionServingCoder``.
package struct RegionSetup: Sendable, Equatable {
    package enum Purpose: Int, Sendable {
        /// Rectangles of any level are read, each without the rest of the image.
        case regions
        /// All rows are read, from the top.
        case rows
    }

    package var purpose: Purpose
    /// The upright size that the header of the image has.
    package var width: Int
    package var height: Int
    package var tileSize: Int
    /// The maximum number of pixels of the whole image; that of the limits is for parts of it.
    package var maximumImagePixelCount: Int
    /// Indicates whether only the first level is read.
    package var usesOnlyFullSize: Bool
    /// The options for decoding parts.
    package var options: ImageDecodeOptions

    package init(
        _ purpose: Purpose,
        width: Int,
        height: Int,
        tileSize: Int,
        maximumImagePixelCount: Int,
        usesOnlyFullSize: Bool,
        options: ImageDecodeOptions
    ) {
        (self.purpose, self.width, self.height, self.tileSize) = (purpose, width, height, tileSize)
        (self.maximumImagePixelCount, self.usesOnlyFullSize) = (maximumImagePixelCount, usesOnlyFullSize)
        self.options = options
    }
}

/// A file that is read at any offset, and closed with the last reference.
package final class RegionFile: Sendable {
    package let descriptor: Int32
    package let byteCount: Int

    /// Takes ownership of a descriptor.
    package init(adopting descriptor: Int32, byteCount: Int) {
        (self.descriptor, self.byteCount) = (descriptor, byteCount)
    }

    deinit { close(descriptor) }
}

/// The bytes of an image whose parts are read.
package struct RegionInput: Sendable {
    package enum Bytes: Sendable {
        case file(RegionFile)
        case data(Data)
    }

    package let bytes: Bytes
    /// The first bytes, from which the format is detected.
    package let beginning: Data

    package init(_ bytes: Bytes, beginning: Data) { (self.bytes, self.beginning) = (bytes, beginning) }
}
