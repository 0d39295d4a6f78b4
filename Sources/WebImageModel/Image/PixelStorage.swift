import CLinux

/// A block of memory that holds pixels, from any allocator: the library's pool, a C library, a mapping.
///
/// It is freed once, with the last reference. Bytes are written before the storage is put into a ``Bitmap`` and never after, which
/// makes it safe to share between threads.
public final class PixelStorage: @unchecked Sendable {
    // Sendable because the memory is written only before the storage is published, and freed only in deinit; the charge is set and
    // read under the lock of all charges, and released in deinit.

    /// The first byte.
    package let base: UnsafeMutableRawPointer
    /// The number of bytes.
    package let byteCount: Int
    private let isPooled: Bool
    private let release: @Sendable (UnsafeMutableRawPointer, Int) -> Void
    /// The charge that counts the memory in a budget as long as the storage lives; nil if no budget counts it.
    private var charge: (any AnyObject & Sendable)?
    private static let charges = Lock(())
    /// Allocates memory in a worker process, where the client process can map it; nil in all other processes. If it returns nil,
    /// the pool allocates. Set before there are other threads.
    package nonisolated(unsafe) static var source: (@Sendable (_ byteCount: Int) -> PixelStorage?)?

    /// Takes ownership of memory from any allocator.
    ///
    /// - Parameters:
    ///   - base: the first byte; must stay valid until `release` is called and must not be written any more.
    ///   - byteCount: the number of bytes.
    ///   - release: frees the memory; called exactly once, on the thread that drops the last reference.
    public init(
        adopting base: UnsafeMutableRawPointer,
        byteCount: Int,
        release: @escaping @Sendable (_ base: UnsafeMutableRawPointer, _ byteCount: Int) -> Void
    ) {
        self.base = base
        self.byteCount = byteCount
        self.release = release
        isPooled = false
    }

    /// Wraps a block of the pool.
    private init(pooled base: UnsafeMutableRawPointer, byteCount: Int) {
        self.base = base
        self.byteCount = byteCount
        release = { base, count in BufferPool.shared.give(base, byteCount: count) }
        isPooled = true
    }

    /// Allocates `byteCount` bytes from the library's buffer pool; the bytes are not initialised.
    ///
    /// - Throws: ``WebImageError/Code/outOfMemory`` if the system has no memory left.
    package static func allocate(byteCount: Int) throws(WebImageError) -> PixelStorage {
        if let storage = source?(byteCount) { return storage }
        guard let base = BufferPool.shared.take(byteCount: byteCount) else {
            throw WebImageError(.outOfMemory, "no memory for \(byteCount) bytes of pixels")
        }
        return PixelStorage(pooled: base, byteCount: byteCount)
    }

    deinit { release(base, byteCount) }

    /// Indicates whether a budget counts the memory.
    var isCharged: Bool { Self.charges.withLock { _ in charge != nil } }

    /// Charges the memory to a budget; does nothing if it is already charged.
    func attach(_ charge: any AnyObject & Sendable) {
        Self.charges.withLock { _ in if self.charge == nil { self.charge = charge } }
    }

    /// The number of bytes of the allocation: a block of the pool may be bigger than requested.
    var blockByteCount: Int { isPooled ? max(webimage_usable_size(base), byteCount) : byteCount }

    /// Calls `body` with the bytes.
    package func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(start: base, count: byteCount))
    }
}
