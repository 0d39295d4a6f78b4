import CLinux
import FoundationEssentials
import Glibc

/// Writes entries atomically: into a hidden file in the same directory, which is then renamed.
///
/// Files are not flushed to the disk; after a power cut, a file may be torn, which its reader detects.
struct EntryWriter: Sendable {
    /// The name prefix of temporary files.
    static let temporaryPrefix = ".webimage-"
    /// The age of a temporary file, in seconds, after which its writer is presumed dead.
    static let temporaryGrace: Double = 900
    /// The same limit for the removal of all entries, which should leave no bytes behind: no write takes this many seconds.
    static let longestWrite: Double = 10

    let directory: DirectoryHandle
    let calls: FileCalls

    /// The result of a commit.
    enum Commit: Sendable, Hashable {
        /// The entry was stored; the disk space of its file.
        case stored(allocatedSize: Int)
        /// There was an entry, and it was kept.
        case kept
    }

    /// Writes an entry under a file name. `stillWanted` is called before the rename; if it returns false, nothing changes.
    func write(
        _ body: UnsafeRawBufferPointer,
        trailer: EntryTrailer,
        name: String,
        times: (accessed: timespec, modified: timespec),
        overwriting: Bool,
        stillWanted: () -> Bool = { true }
    ) throws(SystemCallError) -> Commit {
        guard let tail = trailer.encoded(bodyLength: body.count, bodyHash: Hashing.xxh3(body)) else {
            throw error("write", name, -EFBIG)
        }
        return try commit(name, size: body.count + tail.count, times, overwriting, stillWanted) {
            (file) throws(SystemCallError) in
            let failure = tail.withUnsafeBytes { tail -> SystemCallError? in
                do throws(SystemCallError) {
                    try calls.writeFully(file, body, tail, path: directory.path(of: name))
                } catch { return error }
                return nil
            }
            if let failure { throw failure }
        }
    }

    /// Copies a regular file that belongs to this user or to root from another directory, with its times, unless its name exists
    /// here.
    func copy(_ name: String, from source: DirectoryHandle) throws(SystemCallError) {
        let (original, status) = try EntryReader(calls: calls, directory: source).open(name)
        defer { _ = calls.close(original) }
        guard status.st_mode & S_IFMT == S_IFREG, directory.status(of: name) == nil else { return }
        let size = Int(status.st_size)
        _ = try commit(name, size: size, (status.st_atim, status.st_mtim), false, { true }) {
            (file) throws(SystemCallError) in
            // Exactly this number of bytes, even if the file has grown.
            var rest = size
            while rest > 0 {
                let count = sendfile(file, original, nil, rest)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { throw error("copy", name, count < 0 ? -errno : -EIO) }
                rest -= count
            }
        }
    }

    /// Fills a hidden file, and renames it to its final name.
    private func commit(
        _ name: String,
        size: Int,
        _ times: (accessed: timespec, modified: timespec),
        _ overwriting: Bool,
        _ stillWanted: () -> Bool,
        _ fill: (Int32) throws(SystemCallError) -> Void
    ) throws(SystemCallError) -> Commit {
        let temporary = Self.temporaryName()
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW
        let file = temporary.withCString { calls.open(directory.descriptor, $0, flags) }
        guard file >= 0 else { throw error("open", temporary, file) }
        var isCommitted = false
        defer { if !isCommitted { directory.remove(temporary) } }
        do throws(SystemCallError) { try fill(file) } catch {
            _ = calls.close(file)
            throw error
        }
        futimens(file, [times.accessed, times.modified])
        var status = stat()
        // If the system does not report the file's size, the written size counts.
        if fstat(file, &status) != 0 { status.st_size = off_t(size) }
        // Some file systems report a full disk only on close.
        let closed = calls.close(file)
        if closed < 0, closed != -EINTR { throw error("close", temporary, closed) }
        guard stillWanted() else { return .kept }
        let result = temporary.withCString { from in
            name.withCString { calls.rename(directory.descriptor, from, $0, !overwriting) }
        }
        if result == -EEXIST, !overwriting { return .kept }
        guard result == 0 else { throw error("rename", name, result) }
        isCommitted = true
        return .stored(allocatedSize: status.allocatedSize)
    }

    private func error(_ call: String, _ name: String, _ result: Int32) -> SystemCallError {
        SystemCallError(call: call, directory: directory.path, path: name, number: -result)
    }

    /// Returns a name that no other writer uses, in this process or another.
    static func temporaryName() -> String {
        var name = temporaryPrefix
        name += String(UInt64.random(in: .min ... .max), radix: 36)
        name += ".tmp"
        return name
    }

    /// Returns whether a file of this name is a temporary file.
    static func isTemporaryName(_ name: some Collection<UInt8>) -> Bool {
        name.starts(with: temporaryPrefix.utf8) && name.suffix(4).elementsEqual(".tmp".utf8)
    }
}
