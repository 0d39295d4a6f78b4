/// Decoded pixels: a rectangle of `width` × `height` pixels in a ``PixelStorage``.
///
/// A small value; copying it does not copy pixels. Several bitmaps can share one storage.
public struct Bitmap: Sendable {
    /// The width in pixels, at least 1.
    public let width: Int
    /// The height in pixels, at least 1.
    public let height: Int
    /// The number of bytes from the start of one row to the start of the next; at least `width * pixelFormat.bytesPerPixel`.
    public let bytesPerRow: Int
    /// The layout of a pixel.
    public let pixelFormat: PixelFormat
    /// The memory that holds the pixels.
    package let storage: PixelStorage
    /// The offset of the first row in the storage, in bytes.
    package let byteOffset: Int

    /// Creates a bitmap on existing memory.
    ///
    /// - Precondition: the rectangle lies within the storage.
    public init(
        width: Int,
        height: Int,
        bytesPerRow: Int,
        pixelFormat: PixelFormat,
        storage: PixelStorage,
        byteOffset: Int = 0
    ) {
        precondition(width > 0 && height > 0 && byteOffset >= 0)
        precondition(bytesPerRow >= width * pixelFormat.bytesPerPixel)
        let last = byteOffset + bytesPerRow * (height - 1) + width * pixelFormat.bytesPerPixel
        precondition(last <= storage.byteCount, "a bitmap must lie within its storage")
        self.width = width
        self.height = height
        self.bytesPerRow = bytesPerRow
        self.pixelFormat = pixelFormat
        self.storage = storage
        self.byteOffset = byteOffset
    }

    /// Allocates a bitmap, its rows padded to a multiple of 4 bytes; the pixels are not initialised.
    ///
    /// - Throws: ``WebImageError/Code/limitExceeded`` if the byte count overflows, ``WebImageError/Code/outOfMemory`` if there is
    ///   not enough memory.
    package static func allocate(width: Int, height: Int, pixelFormat: PixelFormat) throws(WebImageError) -> Bitmap {
        let (row, rowOverflow) = width.multipliedReportingOverflow(by: pixelFormat.bytesPerPixel)
        let stride = (row &+ 3) & ~3
        let (total, overflow) = stride.multipliedReportingOverflow(by: height)
        guard width > 0, height > 0, !rowOverflow, !overflow else {
            throw WebImageError(.limitExceeded, "a bitmap of \(width)x\(height) pixels does not fit in memory")
        }
        return Bitmap(
            width: width,
            height: height,
            bytesPerRow: stride,
            pixelFormat: pixelFormat,
            storage: try .allocate(byteCount: total)
        )
    }

    /// Returns the address of row `row`, for writing; only while the bitmap is being made and has not been shared.
    package func mutableRow(_ row: Int) -> UnsafeMutableRawPointer { storage.base + byteOffset + row * bytesPerRow }

    /// Calls `body` with the bytes from the first pixel to the last; rows are `bytesPerRow` apart.
    public func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let count = bytesPerRow * (height - 1) + width * pixelFormat.bytesPerPixel
        return try body(UnsafeRawBufferPointer(start: storage.base + byteOffset, count: count))
    }
}
