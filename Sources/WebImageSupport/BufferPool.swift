import CLinux
import Glibc

/// Recycles big blocks of memory, because a fresh block of tens of megabytes costs more to fault in than a decode.
///
/// Blocks below 16 KiB go straight to `malloc`. Bigger ones are rounded up to one of sixteen sizes per power of two and, when
/// freed, kept for reuse as long as all kept blocks stay within `capacity` bytes. If no kept block has the requested size, one up
/// to half bigger is used: bodies and bitmaps have all sizes. Blocks of 4 MiB and more are aligned to 2 MiB and marked for huge
/// pages. Taking and giving cost a lock and an array operation.
package final class BufferPool: Sendable {
    package static let shared = BufferPool(capacity: 64 << 20)

    private struct State {
        /// The kept blocks of each size, by ``BufferPool/index(ofSize:)``: an array, because every read from the disk takes and gives one.
        var free: [[UnsafeMutableRawPointer]] = []
        var keptBytes = 0
        var capacity: Int
        /// The number of clients that require blocks no bigger than new ones.
        var exactCount = 0

        mutating func take(_ index: Int) -> UnsafeMutableRawPointer? {
            guard index < free.count, let block = free[index].popLast() else { return nil }
            keptBytes -= BufferPool.size(atIndex: index)
            return block
        }
    }

    // The state owns the pointers in it; no other code holds them.
    private let state: Lock<State>
    private static let smallestPower = 14
    private static let smallest = 1 << smallestPower
    private static let hugePage = 2 << 20

    package init(capacity: Int) {
        state = Lock(State(capacity: capacity))
    }

    deinit { trim(toBytes: 0) }

    /// The number of bytes in blocks that are kept for reuse.
    package var keptBytes: Int { state.withLock { $0.keptBytes } }

    /// Changes the maximum number of kept bytes, and frees blocks beyond it at once.
    package func setCapacity(_ capacity: Int) {
        state.withLock { $0.capacity = capacity }
        trim(toBytes: capacity)
    }

    /// Requires blocks to be no bigger than new ones, for clients that count memory before they take it. Each call with true must
    /// be balanced by one with false.
    package func wantExact(_ isWanted: Bool) { state.withLock { $0.exactCount += isWanted ? 1 : -1 } }

    /// Returns the number of bytes that a new block for `byteCount` bytes takes, including the loss by its alignment; `Int.max` on
    /// overflow.
    package static func blockSize(_ byteCount: Int) -> Int {
        guard byteCount >= smallest else { return max(byteCount, 0) }
        guard let size = roundedSize(byteCount) else { return .max }
        return size >= 2 * hugePage ? size + hugePage : size
    }

    /// Returns a block of at least `byteCount` bytes, not initialised; nil if the system has no memory left.
    package func take(byteCount: Int) -> UnsafeMutableRawPointer? {
        guard byteCount >= Self.smallest else { return malloc(max(byteCount, 1)) }
        guard let size = Self.roundedSize(byteCount) else { return nil }
        let recycled = state.withLock { state -> UnsafeMutableRawPointer? in
            guard state.keptBytes >= size else { return nil }
            var size = size
            let most = state.exactCount > 0 ? size : size + size / 2
            while size <= most {
                if let block = state.take(Self.index(ofSize: size)) { return block }
                guard let next = Self.roundedSize(size + 1) else { return nil }
                size = next
            }
            return nil
        }
        if let recycled { return recycled }
        guard size >= 2 * Self.hugePage else { return malloc(size) }
        guard let block = webimage_allocate_aligned(Self.hugePage, size) else { return nil }
        webimage_advise_huge_pages(block, size)
        return block
    }

    /// Enlarges a block that was taken with `oldCount`, with its bytes. The system moves the pages of big blocks instead of copying
    /// them, so that there are never two. Returns nil and changes nothing for small blocks and without memory.
    package func resize(_ block: UnsafeMutableRawPointer, from oldCount: Int, to byteCount: Int)
        -> UnsafeMutableRawPointer?
    {
        guard oldCount >= 2 * Self.hugePage, byteCount > oldCount, let size = Self.roundedSize(byteCount) else {
            return nil
        }
        if webimage_usable_size(block) >= size { return block }
        return realloc(block, size)
    }

    /// Returns a block to the pool that was taken with the same `byteCount`.
    package func give(_ block: UnsafeMutableRawPointer, byteCount: Int) {
        // The block may be bigger than requested.
        guard byteCount >= Self.smallest, let size = Self.roundedDownSize(webimage_usable_size(block)) else {
            return free(block)
        }
        let kept = state.withLock { state -> Bool in
            guard state.keptBytes + size <= state.capacity else { return false }
            let index = Self.index(ofSize: size)
            while state.free.count <= index { state.free.append([]) }
            state.free[index].append(block)
            state.keptBytes += size
            return true
        }
        if !kept { free(block) }
    }

    /// Frees kept blocks, the biggest first, until at most `limit` bytes are kept.
    package func trim(toBytes limit: Int) {
        let victims = state.withLock { state -> [UnsafeMutableRawPointer] in
            var victims: [UnsafeMutableRawPointer] = []
            for index in state.free.indices.reversed() {
                while state.keptBytes > limit, let block = state.take(index) { victims.append(block) }
            }
            return victims
        }
        for block in victims { free(block) }
    }

    /// Returns the position of a rounded size among all of them: sixteen for each power of two, some of which do not exist.
    private static func index(ofSize size: Int) -> Int {
        let power = Int.bitWidth - 1 - size.leadingZeroBitCount
        return (power - smallestPower) * 16 + (size - 1 << power) >> max(power - 4, 12)
    }

    private static func size(atIndex index: Int) -> Int {
        let power = smallestPower + index / 16
        return 1 << power + (index % 16) << max(power - 4, 12)
    }

    /// Returns `byteCount` rounded up to the next of sixteen steps between powers of two; nil on overflow.
    package static func roundedSize(_ byteCount: Int) -> Int? {
        guard byteCount > 0, byteCount < Int.max / 2 else { return nil }
        let power = Int.bitWidth - 1 - byteCount.leadingZeroBitCount
        let step = 1 << max(power - 4, 12)
        return (byteCount + step - 1) & ~(step - 1)
    }

    /// Returns the biggest of those sizes that is at most `byteCount`.
    package static func roundedDownSize(_ byteCount: Int) -> Int? {
        guard byteCount >= smallest, byteCount < Int.max / 2 else { return nil }
        let power = Int.bitWidth - 1 - byteCount.leadingZeroBitCount
        let step = 1 << max(power - 4, 12)
        return byteCount & ~(step - 1)
    }
}
