public import CLinux

/// A number that many threads add to without a lock. Relaxed atomic: provides no ordering with other memory.
@usableFromInline
package final class Counter: @unchecked Sendable {
    // Sendable because the number is only accessed by atomic instructions.
    @usableFromInline let number: UnsafeMutablePointer<Int>

    package init() {
        number = .allocate(capacity: 1)
        number.initialize(to: 0)
    }

    deinit { number.deallocate() }

    @inlinable @inline(__always)
    package var value: Int { webimage_atomic_load(number) }

    /// Adds, and returns the sum. Wraps around, so that untrusted numbers cannot make it trap.
    @discardableResult
    @inlinable @inline(__always)
    package func add(_ count: Int = 1) -> Int { webimage_atomic_add(number, count) }
}
