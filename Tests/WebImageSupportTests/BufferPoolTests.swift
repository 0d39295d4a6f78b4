import Glibc
import ModelTestSupport
import Testing

@testable import WebImageSupport

@Suite(.tags(.threadSanitizer)) struct BufferPoolTests {
    @Test func `A returned block is reused`() throws {
        let pool = BufferPool(capacity: 8 << 20)
        let first = try #require(pool.take(byteCount: 1_000_000))
        pool.give(first, byteCount: 1_000_000)
        #expect(pool.keptBytes >= 1_000_000)
        let second = try #require(pool.take(byteCount: 990_000))
        #expect(first == second, "sizes are rounded to the same step")
        #expect(pool.keptBytes == 0)
        pool.give(second, byteCount: 990_000)
    }

    @Test func `No more is kept than the capacity`() throws {
        let pool = BufferPool(capacity: 3 << 20)
        let blocks = try (0..<5).map { _ in try #require(pool.take(byteCount: 1 << 20)) }
        for block in blocks { pool.give(block, byteCount: 1 << 20) }
        #expect(pool.keptBytes == 3 << 20)
        pool.trim(toBytes: 1 << 20)
        #expect(pool.keptBytes == 1 << 20)
        pool.trim(toBytes: 0)
        #expect(pool.keptBytes == 0)
    }

    @Test func `Big blocks are aligned for huge pages, small ones are not kept`() throws {
        let pool = BufferPool(capacity: 64 << 20)
        let big = try #require(pool.take(byteCount: 10 << 20))
        #expect(UInt(bitPattern: big) % (2 << 20) == 0)
        pool.give(big, byteCount: 10 << 20)
        let small = try #require(pool.take(byteCount: 100))
        pool.give(small, byteCount: 100)
        // Padding for the alignment counts, too.
        #expect(pool.keptBytes >= 10 << 20 && pool.keptBytes <= 12 << 20)
        pool.trim(toBytes: 0)
    }

    @Test func `For memory counted beforehand no bigger block is used`() throws {
        let pool = BufferPool(capacity: 1 << 20)
        let big = try #require(pool.take(byteCount: 120_000))
        pool.give(big, byteCount: 120_000)
        pool.wantExact(true)
        let small = try #require(pool.take(byteCount: 100_000))
        #expect(small != big && pool.keptBytes >= 120_000)
        pool.give(small, byteCount: 100_000)
        #expect(pool.take(byteCount: 100_000) == small, "its own size still does")
        pool.wantExact(false)
        #expect(pool.take(byteCount: 100_000) == big)
        free(small)
        free(big)
    }

    @Test func `A block up to half bigger is used if none of the size is kept, and keeps its size`() throws {
        let pool = BufferPool(capacity: 8 << 20)
        let block = try #require(pool.take(byteCount: 1_400_000))
        pool.give(block, byteCount: 1_400_000)
        let kept = pool.keptBytes
        let smaller = try #require(pool.take(byteCount: 1_000_000))
        #expect(smaller == block)
        #expect(pool.keptBytes == 0)
        pool.give(smaller, byteCount: 1_000_000)
        #expect(pool.keptBytes == kept)
        let again = try #require(pool.take(byteCount: 1_400_000))
        #expect(again == block)
        pool.give(again, byteCount: 1_400_000)
        let small = try #require(pool.take(byteCount: 700_000))
        #expect(small != block, "half of a block would be wasted")
        pool.give(small, byteCount: 700_000)
    }

    @Test(arguments: [16_384, 65_537, 1_000_000, 48_000_000, 5_000_000_000])
    func `Sizes rounded down are sizes of the pool`(byteCount: Int) throws {
        let size = try #require(BufferPool.roundedDownSize(byteCount))
        #expect(size <= byteCount)
        #expect(BufferPool.roundedSize(size) == size)
        #expect(byteCount - size < max(byteCount / 8 + 1, 4096))
    }

    @Test(arguments: [1, 4095, 65_537, 1_000_000, 48_000_000, 5_000_000_000])
    func `Sizes are rounded up by at most an eighth, or a page`(byteCount: Int) throws {
        let size = try #require(BufferPool.roundedSize(byteCount))
        #expect(size >= byteCount)
        #expect(size - byteCount < max(byteCount / 8 + 1, 4096))
    }

    @Test func `An impossible size is refused`() {
        let pool = BufferPool(capacity: 1)
        #expect(pool.take(byteCount: .max) == nil)
        #expect(BufferPool.roundedSize(.max) == nil)
        #expect(BufferPool.roundedSize(0) == nil)
        #expect(BufferPool.roundedDownSize(100) == nil)
    }
}
