import CIsolation
import Glibc

/// Memory of a worker that is mapped here while the worker still writes to it. It is read only after it is sealed.
struct AnnouncedMemory: ~Copyable {
    private let descriptor: Int32
    private let byteCount: Int
    /// Nil if it could not be mapped in advance.
    private var base: UnsafeMutableRawPointer?

    /// Takes ownership of a descriptor, and maps the memory if all its pages exist. Missing pages would be allocated here, from
    /// this process's memory and before it is known whether they belong to the image; such memory is not mapped yet.
    init(_ descriptor: Int32, byteCount: Int) {
        (self.descriptor, self.byteCount) = (descriptor, byteCount)
        guard webimage_memory_is_whole(descriptor, byteCount) else { return }
        base = webimage_memory_map_private(descriptor, byteCount).map { UnsafeMutableRawPointer(mutating: $0) }
    }

    deinit {
        if let base { munmap(base, byteCount) }
        close(descriptor)
    }

    /// Returns the pixels, after the worker has finished with them.
    ///
    /// - Throws: if the worker can still change them, or if the memory has another size.
    consuming func pixels(byteCount: Int) throws(WireError) -> PixelStorage {
        let isClose = (0...SealedPixels.mostPadding).contains(self.byteCount - byteCount)
        guard let base, isClose, byteCount >= SealedPixels.smallestMapped else {
            return try SealedPixels.map(fcntl(descriptor, F_DUPFD_CLOEXEC, 0), byteCount: byteCount)
        }
        try SealedPixels.check(descriptor, byteCount: byteCount)
        self.base = nil
        return SealedPixels.storage(base, byteCount: byteCount, mapped: self.byteCount)
    }
}
