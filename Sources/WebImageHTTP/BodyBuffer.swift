import FoundationEssentials
import Glibc

/// The bytes of a body as they arrive, in one block from the buffer pool that becomes a `Data` without a copy.
///
/// The announced length sizes the block, as far as it is modest: a length can lie, so beyond 4 MiB memory is asked for
/// as bytes really come, at most twice as much each time.
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

    /// An empty buffer that takes at most `limit` bytes.
    init(limit: Int, pool: BufferPool = .shared) {
        self.limit = max(limit, 0)
        self.pool = pool
    }

    /// An empty buffer for a source whose size is a fact and not an announcement.
    init(limit: Int, sizedExactly byteCount: Int, pool: BufferPool = .shared) {
        self.init(limit: limit, pool: pool)
        expected = min(max(byteCount, 0), self.limit)
        mostUpFront = .max
    }

    /// Says how much will come; believed within bounds.
    mutating func expect(_ byteCount: Int64) {
        expected = byteCount > 0 ? Int(min(byteCount, Int64(limit))) : nil
    }

    /// Adds bytes.
    ///
    /// - Throws: ``WebImageError/Code/limitExceeded`` naming `maximumResponseByteCount`,
    ///   ``WebImageError/Code/outOfMemory``.
    mutating func append(_ bytes: UnsafeRawBufferPointer) throws(WebImageError) {
        guard let source = bytes.baseAddress, bytes.count > 0 else { return }
        try reserve(bytes.count)
        base?.advanced(by: count).copyMemory(from: source, byteCount: bytes.count)
        count += bytes.count
    }

    /// Lets `body` write at most `most` bytes at the end; it answers how many it wrote, or a negative number, which
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

    /// The bytes; the buffer is empty afterwards. Nil when there are none.
    mutating func takeData() -> Data? {
        let data = snapshot()
        block = nil
        count = 0
        return data
    }

    /// The bytes so far, without a copy: what comes later is written behind them, or into another block. Nil when there are none.
    func snapshot() -> Data? {
        guard let block, count > 0 else { return nil }
        return Data(
            bytesNoCopy: block.base,
            count: count,
            deallocator: .custom { _, _ in withExtendedLifetime(block) {} }
        )
    }

    /// Whether these bytes are there from `offset` on.
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
        // Nobody else looks at big blocks that move without a copy: both would be there at a time.
        if isKnownUniquelyReferenced(&block), block?.resize(to: byteCount) == true { return }
        guard let memory = pool.take(byteCount: byteCount) else {
            throw WebImageError(.outOfMemory, "no memory for a body of \(byteCount) bytes")
        }
        if let base { memory.copyMemory(from: base, byteCount: count) }
        block = BodyBlock(memory, byteCount: byteCount, pool: pool)
    }
}

/// A block of the pool, given back when nobody looks at its bytes any more.
private final class BodyBlock: @unchecked Sendable {
    // Sendable because bytes that anybody else knows of are not written again, and the block is not moved then.
    private(set) var base: UnsafeMutableRawPointer
    private(set) var byteCount: Int
    private let pool: BufferPool

    init(_ base: UnsafeMutableRawPointer, byteCount: Int, pool: BufferPool) {
        (self.base, self.byteCount, self.pool) = (base, byteCount, pool)
    }

    /// Makes the block bigger, its bytes kept; false when it has to be copied. Only for who has the one reference to it.
    func resize(to byteCount: Int) -> Bool {
        guard let moved = pool.resize(base, from: self.byteCount, to: byteCount) else { return false }
        (base, self.byteCount) = (moved, byteCount)
        return true
    }

    deinit { pool.give(base, byteCount: byteCount) }
}
