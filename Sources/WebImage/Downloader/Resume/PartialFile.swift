import FoundationEssentials
import Glibc

/// The file of one part, open and locked against others who might write it. Used by one thread at a time.
final class PartialFile {
    /// What came of opening a part.
    enum Outcome {
        case part(PartialFile, PartialHead, Data)
        /// There is none that could be used now: no file, one that another process has, or one of something else.
        case none
        /// The file is damaged or too old, and was removed.
        case removed
    }

    let name: String
    private let directory: DirectoryHandle
    private let calls: FileCalls
    /// Negative once it is closed.
    private var file: Int32
    private var hash = RunningHash()
    /// Bytes of the body in the file.
    private(set) var count = 0

    private init(_ file: Int32, name: String, in directory: DirectoryHandle, calls: FileCalls) {
        (self.file, self.name, self.directory, self.calls) = (file, name, directory, calls)
    }

    private var path: String { directory.path(of: name) }

    deinit { close() }

    /// Closes it, and lets others have it.
    func close() {
        guard file >= 0 else { return }
        _ = calls.close(file)
        file = -1
    }

    // MARK: Opening

    /// A file for a new part, in place of what was there; nil when somebody else writes it.
    static func create(
        _ name: String,
        in directory: DirectoryHandle,
        calls: FileCalls
    ) throws(SystemCallError) -> PartialFile? {
        let opened = try locked(name, in: directory, flags: O_RDWR | O_CREAT, calls: calls)
        guard let (file, _) = opened else { return nil }
        guard ftruncate(file.file, 0) == 0 else {
            throw SystemCallError(call: "ftruncate", path: file.path, number: errno)
        }
        return file
    }

    /// Opens a part and reads it.
    ///
    /// - Parameters:
    ///   - limit: bigger ones are left alone.
    ///   - isExpired: asked with the time of the last write, in seconds since 1970.
    static func open(
        _ name: String,
        in directory: DirectoryHandle,
        key: PartialKey,
        limit: Int,
        calls: FileCalls,
        isExpired: (Double) -> Bool
    ) -> Outcome {
        guard let (file, status) = try? locked(name, in: directory, flags: O_RDWR, calls: calls) else {
            return .none
        }
        guard !isExpired(status.st_mtim.seconds), let head = file.readHead() else { return file.removed() }
        guard head.key == key else { return .none }
        let size = Int(status.st_size) - PartialHead.byteCount
        guard head.count >= PartialRules.leastByteCount, head.count <= size else { return file.removed() }
        guard head.count <= limit else { return .none }
        let block = try? FileBlock.load(file.file, size: head.count, mapped: false, calls: calls, path: name)
        guard let block else { return .none }
        file.hash.update(block.bytes)
        guard file.hash.value == head.hash else { return file.removed() }
        file.count = head.count
        return .part(file, head, block.data(count: head.count))
    }

    /// Opens a regular file of this user's and locks it; nil when there is none, or somebody else has locked it.
    private static func locked(
        _ name: String,
        in directory: DirectoryHandle,
        flags: Int32,
        calls: FileCalls
    ) throws(SystemCallError) -> (PartialFile, stat)? {
        let flags = flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY
        let descriptor = name.withCString { calls.open(directory.descriptor, $0, flags) }
        guard descriptor >= 0 else {
            if descriptor == -ENOENT { return nil }
            throw SystemCallError(call: "open", path: directory.path(of: name), number: -descriptor)
        }
        let file = PartialFile(descriptor, name: name, in: directory, calls: calls)
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            throw SystemCallError(call: "fstat", path: file.path, number: errno)
        }
        guard status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid() else {
            throw SystemCallError(call: "open", path: file.path, number: EPERM, refusal: "it is no file of this user's")
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { return nil }
        // Whoever had it may have removed it before the lock was given back. One with other names is not ours alone.
        guard fstat(descriptor, &status) == 0, status.st_nlink == 1 else { return nil }
        return (file, status)
    }

    private func readHead() -> PartialHead? {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: PartialHead.byteCount, alignment: 16)
        defer { buffer.deallocate() }
        guard let base = buffer.baseAddress,
            (try? calls.readFully(file, into: base, count: buffer.count, path: path)) != nil
        else { return nil }
        return PartialHead(UnsafeRawBufferPointer(buffer))
    }

    // MARK: Writing

    /// Adds what is new in `bytes`, which are all of the body so far, and then says so in the head. A writer that dies in between
    /// leaves what there was before.
    ///
    /// - Parameter now: what the file's times become, in seconds since 1970.
    func write(_ bytes: UnsafeRawBufferPointer, head: PartialHead, now: Double) throws(SystemCallError) {
        guard bytes.count >= count else { throw SystemCallError(call: "write", path: path, number: EINVAL) }
        let new = UnsafeRawBufferPointer(rebasing: bytes[count...])
        try calls.writeFully(file, new, at: PartialHead.byteCount + count, path: path)
        hash.update(new)
        var head = head
        head.count = bytes.count
        guard let value = hash.value else { throw SystemCallError(call: "write", path: path, number: ENOMEM) }
        head.hash = value
        guard let encoded = head.encoded() else { throw SystemCallError(call: "write", path: path, number: EFBIG) }
        let failure = encoded.withUnsafeBytes { encoded -> SystemCallError? in
            do throws(SystemCallError) { try calls.writeFully(file, encoded, at: 0, path: path) } catch { return error }
            return nil
        }
        if let failure { throw failure }
        count = bytes.count
        let time = timespec(seconds: now)
        futimens(file, [time, time])
    }

    /// Takes the file away; nothing is to be written afterwards.
    func remove() { directory.remove(name) }

    private func removed() -> Outcome {
        remove()
        return .removed
    }
}
