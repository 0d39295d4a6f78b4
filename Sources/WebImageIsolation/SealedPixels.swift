import CIsolation
import Glibc

/// Memory of a worker in this process: mapped, not copied, once nobody can change it.
enum SealedPixels {
    /// Giving back the pages of a big picture takes as long as decoding a small one, which whoever lets go of it must not wait for.
    private static let queue = WorkQueue(name: "webimage-unmap", width: 1)
    private static let smallestQueued = 256 << 10
    /// Fewer bytes are copied: a process may have only so many mappings, and a cache many small pictures.
    static let smallestMapped = 64 << 10
    /// More memory than the pixels take is not held for them.
    static let mostPadding = 64 << 10

    /// Takes over a descriptor, and maps the first bytes of its memory.
    ///
    /// - Throws: when it is no such memory, can be changed, or is smaller.
    static func map(_ descriptor: Int32, byteCount: Int) throws(WireError) -> PixelStorage {
        defer { close(descriptor) }
        try check(descriptor, byteCount: byteCount)
        guard byteCount >= smallestMapped else { return try copy(descriptor, byteCount: byteCount) }
        guard let base = webimage_memory_map_private(descriptor, byteCount) else {
            throw WireError("its memory of \(byteCount) bytes cannot be mapped")
        }
        return storage(UnsafeMutableRawPointer(mutating: base), byteCount: byteCount, mapped: byteCount)
    }

    /// - Throws: when it is no such memory, can be changed, is smaller, or much bigger.
    static func check(_ descriptor: Int32, byteCount: Int) throws(WireError) {
        let size = webimage_memory_sealed_size(descriptor)
        guard size >= 0 else { throw WireError("its memory can still be changed") }
        guard byteCount > 0, size >= byteCount, size - byteCount <= mostPadding else {
            throw WireError("its memory has \(size) bytes, not \(byteCount)")
        }
        guard webimage_memory_fill(descriptor, byteCount) == 0 else {
            throw WireError("its memory of \(byteCount) bytes has holes, for which there is no memory")
        }
    }

    private static func copy(_ descriptor: Int32, byteCount: Int) throws(WireError) -> PixelStorage {
        guard let storage = try? PixelStorage.allocate(byteCount: byteCount),
            (try? FileCalls.system.readFully(descriptor, into: storage.base, count: byteCount, at: 0, path: "")) != nil
        else { throw WireError("its memory of \(byteCount) bytes cannot be read") }
        return storage
    }

    /// Takes over a mapping, whose first bytes are the pixels.
    static func storage(_ base: UnsafeMutableRawPointer, byteCount: Int, mapped: Int) -> PixelStorage {
        PixelStorage(adopting: base, byteCount: byteCount) { base, _ in
            guard mapped >= smallestQueued else {
                munmap(base, mapped)
                return
            }
            // An address is Sendable as a number.
            let address = UInt(bitPattern: base)
            queue.submit(priority: .low) { munmap(UnsafeMutableRawPointer(bitPattern: address), mapped) }
        }
    }
}
