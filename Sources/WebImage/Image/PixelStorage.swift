/// A block of memory that holds pixels, whoever allocated it: the library's pool, a C library, a mapping.
///
/// It is freed once, when the last reference goes. Bytes are written before the storage is put into a ``Bitmap`` and
/// never after, which is what makes it safe to share between threads.
public final class PixelStorage: @unchecked Sendable {
    // Sendable because the memory is written only before the storage is published, and freed only in deinit.

    /// The first byte.
    package let base: UnsafeMutableRawPointer
    /// The number of bytes.
    public let byteCount: Int
    private let release: @Sendable (UnsafeMutableRawPointer, Int) -> Void

    /// Takes over memory of any origin.
    ///
    /// - Parameters:
    ///   - base: the first byte; must stay valid until `release` is called and must not be written any more.
    ///   - byteCount: the number of bytes.
    ///   - release: frees the memory; called exactly once, on whichever thread drops the last reference.
    public init(
        adopting base: UnsafeMutableRawPointer,
        byteCount: Int,
        release: @escaping @Sendable (_ base: UnsafeMutableRawPointer, _ byteCount: Int) -> Void
    ) {
        self.base = base
        self.byteCount = byteCount
        self.release = release
    }

    /// Memory of `byteCount` bytes from the library's buffer pool; the bytes are not initialised.
    ///
    /// - Throws: ``WebImageError/Code/outOfMemory`` when the system has none.
    package static func allocate(byteCount: Int) throws(WebImageError) -> PixelStorage {
        // In a process that decodes for another, pixels are made where that one can have them.
        if let storage = SharedBuffers.inUse?.storage(byteCount: byteCount) { return storage }
        guard let base = BufferPool.shared.take(byteCount: byteCount) else {
            throw WebImageError(.outOfMemory, "no memory for \(byteCount) bytes of pixels")
        }
        return PixelStorage(adopting: base, byteCount: byteCount) { base, count in
            BufferPool.shared.give(base, byteCount: count)
        }
    }

    deinit { release(base, byteCount) }

    /// Calls `body` with the bytes.
    public func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(start: base, count: byteCount))
    }
}
