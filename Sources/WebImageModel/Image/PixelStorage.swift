import CLinux

/// A block of memory that holds pixels, whoever allocated it: the library's pool, a C library, a mapping.
///
/// It is freed once, when the last reference goes. Bytes are written before the storage is put into a ``Bitmap`` and
/// never after, which is what makes it safe to share between threads.
public final class PixelStorage: @unchecked Sendable {
    // Sendable because the memory is written only before the storage is published, and freed only in deinit; the charge is set and
    // looked at with the lock of all charges held, and let go of in deinit.

    /// The first byte.
    package let base: UnsafeMutableRawPointer
    /// The number of bytes.
    public let byteCount: Int
    private let isPooled: Bool
    private let release: @Sendable (UnsafeMutableRawPointer, Int) -> Void
    /// What counts the memory in a budget as long as it lives; nil when it is in none.
    private var charge: (any AnyObject & Sendable)?
    private static let charges = Lock(())
    /// Makes memory in a process that decodes for another one, where that one can have it; nil in all others. A nil answer means that the
    /// pool does. Set before there are other threads.
    package nonisolated(unsafe) static var source: (@Sendable (_ byteCount: Int) -> PixelStorage?)?

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
        isPooled = false
    }

    /// A block of the pool.
    private init(pooled base: UnsafeMutableRawPointer, byteCount: Int) {
        self.base = base
        self.byteCount = byteCount
        release = { base, count in BufferPool.shared.give(base, byteCount: count) }
        isPooled = true
    }

    /// Memory of `byteCount` bytes from the library's buffer pool; the bytes are not initialised.
    ///
    /// - Throws: ``WebImageError/Code/outOfMemory`` when the system has none.
    package static func allocate(byteCount: Int) throws(WebImageError) -> PixelStorage {
        if let storage = source?(byteCount) { return storage }
        guard let base = BufferPool.shared.take(byteCount: byteCount) else {
            throw WebImageError(.outOfMemory, "no memory for \(byteCount) bytes of pixels")
        }
        return PixelStorage(pooled: base, byteCount: byteCount)
    }

    deinit { release(base, byteCount) }

    /// Whether a budget counts it.
    var isCharged: Bool { Self.charges.withLock { _ in charge != nil } }

    /// Has a budget count it; nothing happens if one does.
    func attach(_ charge: any AnyObject & Sendable) {
        Self.charges.withLock { _ in if self.charge == nil { self.charge = charge } }
    }

    /// The bytes that are taken for it: a block of the pool may be bigger than what was asked for.
    var blockByteCount: Int { isPooled ? max(webimage_usable_size(base), byteCount) : byteCount }

    /// Calls `body` with the bytes.
    public func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(start: base, count: byteCount))
    }
}
