import CIsolation
import Glibc

/// A worker says, before it decodes into it, in which memory the picture will lie: the parent can map it meanwhile. The message carries a
/// descriptor of the memory.
enum Announcement {
    private static let mark: UInt64 = .max - 1
    /// Smaller pictures are mapped in no time.
    static let smallest = 256 << 10

    static func message(_ byteCount: Int) -> [UInt8] {
        var writer = WireWriter()
        writer.write(mark)
        writer.write(byteCount)
        return writer.bytes
    }

    /// The bytes of the memory; nil for other messages.
    static func byteCount(_ message: [UInt8]) -> Int? {
        guard message.count == 16 else { return nil }
        return message.withUnsafeBytes { bytes in
            var reader = WireReader(bytes)
            guard (try? reader.word()) == mark else { return nil }
            return try? reader.int(1...Int.max, "a length")
        }
    }
}

/// Memory of a worker that is mapped here while the worker still writes to it. Nobody looks at it before it can no longer be changed.
struct AnnouncedMemory: ~Copyable {
    private let descriptor: Int32
    private let byteCount: Int
    /// Nil when it could not be mapped in advance.
    private var base: UnsafeMutableRawPointer?

    /// Takes over a descriptor, and maps the memory with all its pages.
    init(_ descriptor: Int32, byteCount: Int) {
        (self.descriptor, self.byteCount) = (descriptor, byteCount)
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
