import FoundationEssentials
import Glibc

/// The bytes of a body as they arrive, in one block from the buffer pool that becomes a `Data` without a copy.
///
/// The announced length sizes the block up to 4 MiB. Because a length can be wrong, memory beyond that is allocated only as bytes
/// arrive, at most doubling each time.
struct BodyBuffer: ~Copyable {
    private static let least = 16 << 10

    private let pool: BufferPool
    private let limit: Int
    private var mostUpFront = 4 << 20
    private var expected: Int?
    private var block: BodyBlock?
    private(set) var count = 0
    private var base: UnsafeMutableRawPointer? { block?.base }
    var capacity: Int { block?.byteCount ?? 0 }

    /// Creates an empty buffer that takes at most `limit` bytes.
    init(limit: Int, pool: BufferPool = .shared) {
        self.limit = max(limit, 0)
        self.pool = pool
    }

    /// Creates an empty buffer for a source whose size is known, not only announced.
    init(limit: Int, sizedExactly byteCount: Int, pool: BufferPool = .shared) {
        self.init(limit: limit, pool: pool)
        expected = min(max(byteCount, 0), self.limit)
        mostUpFront = .max
    }

    /// Sets the announced byte count, which is used within bounds.
    mutating func expect(_ byteCount: Int64) {
        expected = byteCount > 0 ? Int(min(byteCount, Int64(limit))) : nil
    }

    /// Appends bytes.
    ///
    /// - Throws: ``WebImageError/Code/limitExceeded`` naming `maximumResponseByteCount`,
    ///   ``WebImageError/Code/outOfMemory``.
    mutating func append(_ bytes: UnsafeRawBufferPointer) throws(WebImageError) {
        guard let source = bytes.baseAddress, bytes.count > 0 else { return }
        try reserve(bytes.count)
        base?.advanced(by: count).copyMemory(from: source, byteCount: bytes.count)
        count += bytes.count
    }

    /// Lets `body` write at most `most` bytes at the end. `body` returns the number of bytes written, or a negative number, which
    /// is passed on.
    mutating func fill(
        most: Int,
        _ body: (UnsafeMutableRawPointer, Int) -> Int
    ) throws(WebImageError) -> Int {
        try reserve(most)
        guard let base else { return 0 }
        let written = body(base + count, most)
        if written > 0 { count += written }
        return written
    }

    /// Returns the bytes and empties the buffer. Nil if there are none.
    mutating func takeData() -> Data? {
        let data = snapshot()
        block = nil
        count = 0
        return data
    }

    /// Returns the bytes so far, without a copy: later bytes are written behind them, or into another block. Nil if there are none.
    func snapshot() -> Data? {
        guard let block, count > 0 else { return nil }
        return Data(
            bytesNoCopy: block.base,
            count: count,
            deallocator: .custom { _, _ in withExtendedLifetime(block) {} }
        )
    }

    /// Returns whether the buffer contains `bytes` at `offset`.
    func holds(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> Bool {
        guard bytes.count > 0 else { return true }
        guard let base, let other = bytes.baseAddress, offset >= 0, offset <= count, bytes.count <= count - offset
        else {
            return false
        }
        return memcmp(base + offset, other, bytes.count) == 0
    }

    private mutating func reserve(_ more: Int) throws(WebImageError) {
        let (needed, overflow) = count.addingReportingOverflow(more)
        guard !overflow, needed <= limit else {
            throw .limitExceeded("maximumResponseByteCount", allowed: limit, required: overflow ? .max : needed)
        }
        guard needed > capacity else { return }
        try grow(to: newCapacity(for: needed))
    }

    private func newCapacity(for needed: Int) -> Int {
        guard capacity > 0 else {
            let (double, overflow) = needed.multipliedReportingOverflow(by: 2)
            return max(needed, min(expected ?? Self.least, max(mostUpFront, overflow ? .max : double)))
        }
        let doubled = max(needed, capacity * 2)
        if let expected, expected >= needed { return min(doubled, expected) }
        return max(needed, min(doubled, limit))
    }

    private mutating func grow(to byteCount: Int) throws(WebImageError) {
        // A uniquely referenced big block grows in place or is remapped: a copy would need the memory of both blocks at once.
        if isKnownUniquelyReferenced(&block), block?.resize(to: byteCount) == true { return }
        guard let memory = pool.take(byteCount: byteCount) else {
            throw WebImageError(.outOfMemory, "cannot allocate \(byteCount) bytes for the body")
        }
        if let base { memory.copyMemory(from: base, byteCount: count) }
        block = BodyBlock(memory, byteCount: byteCount, pool: pool)
    }
}

/// A block of the pool, returned to it when its bytes have no more references.
private final class BodyBlock: @unchecked Sendable {
    // Sendable because bytes that are shared are never written again, and the block does not move while they are shared.
    private(set) var base: UnsafeMutableRawPointer
    private(set) var byteCount: Int
    private let pool: BufferPool

    init(_ base: UnsafeMutableRawPointer, byteCount: Int, pool: BufferPool) {
        (self.base, self.byteCount, self.pool) = (base, byteCount, pool)
    }

    /// Enlarges the block and keeps its bytes; false if it has to be copied. Requires the only reference to the block.
    func resize(to byteCount: Int) -> Bool {
        guard let moved = pool.resize(base, from: self.byteCount, to: byteCount) else { return false }
        (base, self.byteCount) = (moved, byteCount)
        return true
    }

    deinit { pool.give(base, byteCount: byteCount) }
}
