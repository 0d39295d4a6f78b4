import CLinux
import FoundationEssentials
import Glibc

/// Writes entries so that a file is there whole or not at all: into a hidden file of the same directory, then renamed.
///
/// Nothing is flushed to the disk; after a power cut a file may be torn, which its reader finds out.
struct EntryWriter: Sendable {
    /// What names of files that are being written start with.
    static let temporaryPrefix = ".webimage-"
    /// A file that has been written for longer than this, in seconds, has been given up by its writer.
    static let temporaryGrace: Double = 900
    /// The same for a removal of everything, which should leave no bytes behind: no write takes this many seconds.
    static let longestWrite: Double = 10

    let directory: DirectoryHandle
    let calls: FileCalls

    /// What committing did.
    enum Commit: Sendable, Hashable {
        /// The entry is there; the disk space that its file takes.
        case stored(allocatedSize: Int)
        /// There was an entry, and it was to be left alone.
        case kept
    }

    /// Writes an entry under a file name. `stillWanted` is asked before the file gets its name; false leaves everything as it was.
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

    /// Copies a regular file of this user's or root's from another directory, with its times, unless there is one of that name.
    func copy(_ name: String, from source: DirectoryHandle) throws(SystemCallError) {
        let (original, status) = try EntryReader(calls: calls, directory: source).open(name)
        defer { _ = calls.close(original) }
        guard status.st_mode & S_IFMT == S_IFREG, directory.status(of: name) == nil else { return }
        let size = Int(status.st_size)
        _ = try commit(name, size: size, (status.st_atim, status.st_mtim), false, { true }) {
            (file) throws(SystemCallError) in
            // As many bytes, however long that file has become.
            var rest = size
            while rest > 0 {
                let count = sendfile(file, original, nil, rest)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { throw error("copy", name, count < 0 ? -errno : -EIO) }
                rest -= count
            }
        }
    }

    /// Has a hidden file filled, and gives it its name.
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
        // Where the system does not say what the file takes, it takes what was written.
        if fstat(file, &status) != 0 { status.st_size = off_t(size) }
        // Some file systems only find out here that there was no room.
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

    /// A name that no other writer has, in this process or another.
    static func temporaryName() -> String {
        var name = temporaryPrefix
        name += String(UInt64.random(in: .min ... .max), radix: 36)
        name += ".tmp"
        return name
    }

    /// Whether a file of this name is one that is being written, or was.
    static func isTemporaryName(_ name: some Collection<UInt8>) -> Bool {
        name.starts(with: temporaryPrefix.utf8) && name.suffix(4).elementsEqual(".tmp".utf8)
    }
}
