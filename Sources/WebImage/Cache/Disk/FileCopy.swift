import FoundationEssentials
import Glibc

/// Copies files to another file system so that a copy is there whole or not at all, as entries are written.
struct FileCopy {
    private static let blockSize = 256 << 10

    let source: DirectoryHandle
    let destination: DirectoryHandle
    let calls: FileCalls

    init(from source: DirectoryHandle, to destination: DirectoryHandle, calls: FileCalls = .system) {
        (self.source, self.destination, self.calls) = (source, destination, calls)
    }

    /// Copies a regular file of this user's or root's, with its times, unless the destination has one of that name.
    func copy(_ name: String) throws(SystemCallError) {
        let (file, status) = try EntryReader(calls: calls, directory: source).open(name)
        defer { _ = calls.close(file) }
        guard status.st_mode & S_IFMT == S_IFREG, destination.status(of: name) == nil else { return }
        let temporary = EntryWriter.temporaryName()
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW
        let copy = temporary.withCString { calls.open(destination.descriptor, $0, flags) }
        guard copy >= 0 else { throw error("open", temporary, -copy) }
        var isCommitted = false
        defer { if !isCommitted { destination.remove(temporary) } }
        let failure = transfer(file, Int(status.st_size), to: copy, name)
        futimens(copy, [status.st_atim, status.st_mtim])
        let closing = calls.close(copy)
        if let failure { throw failure }
        guard closing >= 0 || closing == -EINTR else { throw error("close", temporary, -closing) }
        let result = temporary.withCString { from in
            name.withCString { calls.rename(destination.descriptor, from, $0, true) }
        }
        guard result == 0 else { throw error("rename", name, -result) }
        isCommitted = true
    }

    /// Copies as many bytes, however long that file has become.
    private func transfer(_ file: Int32, _ size: Int, to copy: Int32, _ name: String) -> SystemCallError? {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.blockSize, alignment: 16)
        defer { buffer.deallocate() }
        guard let base = buffer.baseAddress else { return nil }
        let none = UnsafeRawBufferPointer(start: nil, count: 0)
        var rest = size
        do throws(SystemCallError) {
            while rest > 0 {
                let count = min(rest, buffer.count)
                try calls.readFully(file, into: base, count: count, path: source.path(of: name))
                let bytes = UnsafeRawBufferPointer(start: base, count: count)
                try calls.writeFully(copy, bytes, none, path: destination.path(of: name))
                rest -= count
            }
        } catch { return error }
        return nil
    }

    private func error(_ call: String, _ name: String, _ number: Int32) -> SystemCallError {
        SystemCallError(call: call, path: destination.path(of: name), number: number)
    }
}
