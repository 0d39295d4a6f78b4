import CLinux

/// A number that many threads add to without a lock. It orders nothing else: who reads it learns the number alone.
package final class Counter: @unchecked Sendable {
    // Sendable because the number is only touched by atomic instructions.
    @usableFromInline let number: UnsafeMutablePointer<Int>

    package init() {
        number = .allocate(capacity: 1)
        number.initialize(to: 0)
    }

    deinit { number.deallocate() }

    @inlinable @inline(__always)
    package var value: Int { webimage_atomic_load(number) }

    /// Adds, and returns the sum; what is told by others must not make it trap, so it wraps around.
    @discardableResult
    @inlinable @inline(__always)
    package func add(_ count: Int = 1) -> Int { webimage_atomic_add(number, count) }
}
