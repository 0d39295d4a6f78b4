import CIsolation
import Glibc

/// Memory of a worker that is mapped here while the worker still writes to it. Nobody looks at it before it can no longer be changed.
struct AnnouncedMemory: ~Copyable {
    private let descriptor: Int32
    private let byteCount: Int
    /// Nil when it could not be mapped in advance.
    private var base: UnsafeMutableRawPointer?

    /// Takes over a descriptor, and maps the memory with all its pages. A page that is missing would be made here, of this process's memory
    /// and before anybody knows whether it is one of the picture's: what has not all of them is not mapped yet.
    init(_ descriptor: Int32, byteCount: Int) {
        (self.descriptor, self.byteCount) = (descriptor, byteCount)
        guard webimage_memory_is_whole(descriptor, byteCount) else { return }
        base = webimage_memory_map_private(descriptor, byteCount).map { UnsafeMutableRawPointer(mutating: $0) }
    }

    deinit {
        if let base { munmap(base, byteCount) }
        close(descriptor)
    }

    /// The pixels, now that the worker has nothing to do with them any more.
    ///
    /// - Throws: when it can still change them, or when the memory has another size.
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
