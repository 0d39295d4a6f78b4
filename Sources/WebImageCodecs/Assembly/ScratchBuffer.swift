/// A block from the buffer pool that is returned when the object is released. For one thread.
package final class ScratchBuffer {
    package let base: UnsafeMutableRawPointer
    package let byteCount: Int

    /// - Throws: ``WebImageError/Code/outOfMemory``.
    package init(byteCount: Int) throws(WebImageError) {
        guard let base = BufferPool.shared.take(byteCount: byteCount) else {
            throw WebImageError(.outOfMemory, "no memory for \(byteCount) bytes")
        }
        self.base = base
        self.byteCount = byteCount
    }

    deinit { BufferPool.shared.give(base, byteCount: byteCount) }

    package var bytes: UnsafeMutablePointer<UInt8> { base.assumingMemoryBound(to: UInt8.self) }
    package var shorts: UnsafeMutablePointer<Int16> { base.assumingMemoryBound(to: Int16.self) }
    package var floats: UnsafeMutablePointer<Float> { base.assumingMemoryBound(to: Float.self) }

    package func clear() { base.initializeMemory(as: UInt8.self, repeating: 0, count: byteCount) }
}
