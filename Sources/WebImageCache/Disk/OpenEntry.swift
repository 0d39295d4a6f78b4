import Glibc

/// An entry on disk whose file is open, for programs that send its bytes without reading them.
///
/// Length, key and checksum were verified when it was opened. Removing or replacing the entry does not affect the file.
package final class OpenEntry: Sendable {
    /// The file, open for reading. The bytes of the image are at its beginning.
    package let descriptor: Int32
    /// The number of bytes of the image.
    package let byteCount: Int
    /// The XXH3 of the bytes.
    package let hash: UInt64
    private let status: FileStatus

    private struct FileStatus: @unchecked Sendable {
        // Sendable because it is a value without pointers.
        let value: stat
    }

    fileprivate init(_ descriptor: Int32, _ footer: EntryFooter, _ status: stat) {
        (self.descriptor, byteCount, hash) = (descriptor, footer.bodyLength, footer.contentHash)
        self.status = FileStatus(value: status)
    }

    deinit { close(descriptor) }

    /// True if the file has not been written to since its bytes were verified. Cost: an `fstat`.
    package var isUnchanged: Bool {
        var now = stat()
        return fstat(descriptor, &now) == 0 && now.isUnchanged(since: status.value)
    }
}

extension DiskCache {
    /// Opens the entry of a key and verifies it; nil if there is none, or if it is damaged, and then removed. Blocks.
    package func openEntry(forKey key: String) -> OpenEntry? {
        guard !key.isEmpty, let directory = usableDirectory() else { return nil }
        let name = CacheFileName(key: key).string
        var descriptor: Int32 = -1
        let outcome = EntryReader(calls: calls, directory: directory).read(name, key: key) { file, _ in
            descriptor = fcntl(file, F_DUPFD_CLOEXEC, 0)
        }
        switch outcome {
        case .entry(let entry) where descriptor >= 0: return OpenEntry(descriptor, entry.footer, entry.status)
        case .damaged(let status, _): removeDamaged(name, status)
        case .failed(let error): note(error)
        case .entry, .absent, .foreign: break
        }
        return nil
    }
}

extension ImageCache {
    /// Opens the entry of a key on disk and verifies it; nil if there is none, or if it is still to be written. Blocks.
    package func openEntry(forKey key: String) -> OpenEntry? { (diskCache as? DiskCache)?.openEntry(forKey: key) }
}
