import CIsolation
import Glibc

/// A worker's memory in this process: mapped, not copied, after it is sealed.
enum SealedPixels {
    /// Unmapping a big image takes as long as decoding a small one, so it runs on this queue instead of the releasing thread.
    private static let queue = WorkQueue(name: "webimage-unmap", width: 1)
    private static let smallestQueued = 256 << 10
    /// Less memory is copied: the number of mappings of a process is limited, and a cache may hold many small images.
    static let smallestMapped = 64 << 10
    /// The maximum number of unused bytes that are kept mapped.
    static let mostPadding = 64 << 10

    /// Takes ownership of a descriptor, and maps the first bytes of its memory.
    ///
    /// - Throws: if it is not a memfd, is not sealed, or is smaller.
    static func map(_ descriptor: Int32, byteCount: Int) throws(WireError) -> PixelStorage {
        defer { close(descriptor) }
        try check(descriptor, byteCount: byteCount)
        guard byteCount >= smallestMapped else { return try copy(descriptor, byteCount: byteCount) }
        guard let base = webimage_memory_map_private(descriptor, byteCount) else {
            throw WireError("its memory of \(byteCount) bytes cannot be mapped")
        }
        return storage(UnsafeMutableRawPointer(mutating: base), byteCount: byteCount, mapped: byteCount)
    }

    /// - Throws: if it is not a memfd, is not sealed, is smaller, or much bigger.
    static func check(_ descriptor: Int32, byteCount: Int) throws(WireError) {
        let size = webimage_memory_sealed_size(descriptor)
        guard size >= 0 else { throw WireError("its memory can still be changed") }
        guard byteCount > 0, size >= byteCount, size - byteCount <= mostPadding else {
            throw WireError("its memory has \(size) bytes, not \(byteCount)")
        }
        guard webimage_memory_fill(descriptor, byteCount) == 0 else {
            throw WireError("its memory of \(byteCount) bytes has holes, and no memory is left to fill them")
        }
    }

    private static func copy(_ descriptor: Int32, byteCount: Int) throws(WireError) -> PixelStorage {
        guard let storage = try? PixelStorage.allocate(byteCount: byteCount),
            (try? FileCalls.system.readFully(descriptor, into: storage.base, count: byteCount, at: 0, path: "")) != nil
        else { throw WireError("its memory of \(byteCount) bytes cannot be read") }
        return storage
    }

    /// Takes ownership of a mapping that starts with the pixels.
    static func storage(_ base: UnsafeMutableRawPointer, byteCount: Int, mapped: Int) -> PixelStorage {
        PixelStorage(adopting: base, byteCount: byteCount) { base, _ in
            guard mapped >= smallestQueued else {
                munmap(base, mapped)
                return
            }
            // A raw pointer is not Sendable, its address is.
            let address = UInt(bitPattern: base)
            queue.submit(priority: .low) { munmap(UnsafeMutableRawPointer(bitPattern: address), mapped) }
        }
    }
}
