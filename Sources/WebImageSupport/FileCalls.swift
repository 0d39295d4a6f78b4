import CLinux
package import Glibc

/// The system calls that write and read cache entries, so that tests can make each of them fail.
///
/// Results below 0 are negative error numbers. Paths are relative to an open directory, or absolute.
package struct FileCalls: Sendable {
    package var open: @Sendable (_ directory: Int32, _ path: UnsafePointer<CChar>, _ flags: Int32) -> Int32
    package var read: @Sendable (_ file: Int32, _ buffer: UnsafeMutableRawPointer, _ count: Int) -> Int
    package var write: @Sendable (_ file: Int32, _ pieces: UnsafePointer<iovec>, _ count: Int32) -> Int
    package var close: @Sendable (_ file: Int32) -> Int32
    /// Renames within a directory.
    package var rename:
        @Sendable (_ directory: Int32, _ from: UnsafePointer<CChar>, _ to: UnsafePointer<CChar>, _ exclusive: Bool) ->
            Int32
    /// Like `readdir`, with the error in `errno`.
    package var list: @Sendable (_ stream: OpaquePointer) -> UnsafeMutablePointer<dirent>? = { readdir($0) }
    /// Like `fstatat`; does not follow symbolic links.
    package var status:
        @Sendable (_ directory: Int32, _ name: UnsafePointer<CChar>, _ status: UnsafeMutablePointer<stat>) -> Int32 = {
            fstatat($0, $1, $2, AT_SYMLINK_NOFOLLOW)
        }
    /// Writes at an offset; does not change the file position.
    package var writeAt: @Sendable (_ file: Int32, _ bytes: UnsafeRawPointer, _ count: Int, _ offset: Int) -> Int = {
        result(pwrite($0, $1, $2, off_t($3)))
    }

    package static let system = FileCalls(
        open: { directory, path, flags in
            if flags & O_CREAT == 0 { return webimage_open_unnoticed(directory, path, flags) }
            let file = openat(directory, path, flags, 0o600)
            return file >= 0 ? file : -errno
        },
        read: { file, buffer, count in result(Glibc.read(file, buffer, count)) },
        write: { file, pieces, count in result(writev(file, pieces, count)) },
        close: { file in Glibc.close(file) == 0 ? 0 : -errno },
        rename: { directory, from, to, exclusive in webimage_rename(directory, from, directory, to, exclusive) }
    )
}

/// A failed system call, with its path.
package struct SystemCallError: Error, CustomStringConvertible {
    package let call: String
    /// The directory that ``path`` is in; nil if the path needs none.
    package var directory: String?
    package let path: String
    package let number: Int32
    /// The reason why something that the system would have allowed was refused; nil if the system call failed.
    package var refusal: String?

    package init(call: String, directory: String? = nil, path: String, number: Int32, refusal: String? = nil) {
        (self.call, self.directory, self.path, self.number) = (call, directory, path, number)
        self.refusal = refusal
    }

    package var description: String {
        let path = (directory.map { $0 + "/" } ?? "") + path
        if let refusal { return "\(path) is not used: \(refusal)" }
        return "\(call) \(path): \(String(cString: strerror(number)))"
    }

    /// Indicates whether the file or directory does not exist.
    package var isAbsence: Bool { refusal == nil && (number == ENOENT || number == ENOTDIR) }

    /// Indicates whether the disk is full: no space, no quota, no inodes.
    package var isOutOfSpace: Bool { number == ENOSPC || number == EDQUOT }
}

extension FileCalls {
    /// Reads exactly `count` bytes, from the file's position or, without moving that, from an offset. Throws EIO if the file ends
    /// earlier.
    package func readFully(
        _ file: Int32,
        into buffer: UnsafeMutableRawPointer,
        count: Int,
        at offset: Int? = nil,
        path: @autoclosure () -> String
    ) throws(SystemCallError) {
        var done = 0
        while done < count {
            let (place, rest) = (buffer + done, count - done)
            let result =
                offset.map { Self.result(pread(file, place, rest, off_t($0 + done))) } ?? read(file, place, rest)
            if result == -Int(EINTR) { continue }
            guard result > 0 else {
                throw SystemCallError(call: "read", path: path(), number: result < 0 ? Int32(-result) : EIO)
            }
            done += result
        }
    }

    /// Writes two buffers one after the other, in as many calls as needed.
    package func writeFully(
        _ file: Int32,
        _ first: UnsafeRawBufferPointer,
        _ second: UnsafeRawBufferPointer,
        path: @autoclosure () -> String
    ) throws(SystemCallError) {
        var pieces = (Self.piece(first), Self.piece(second))
        while pieces.0.iov_len + pieces.1.iov_len > 0 {
            let result = withUnsafePointer(to: &pieces) {
                $0.withMemoryRebound(to: iovec.self, capacity: 2) { write(file, $0, 2) }
            }
            if result == -Int(EINTR) { continue }
            guard result > 0 else {
                throw SystemCallError(call: "write", path: path(), number: result < 0 ? Int32(-result) : ENOSPC)
            }
            let ofFirst = min(result, pieces.0.iov_len)
            Self.advance(&pieces.0, by: ofFirst)
            Self.advance(&pieces.1, by: min(result - ofFirst, pieces.1.iov_len))
        }
    }

    /// Overwrites bytes of a file at an offset, in as many calls as needed.
    package func writeFully(
        _ file: Int32,
        _ bytes: UnsafeRawBufferPointer,
        at offset: Int,
        path: @autoclosure () -> String
    ) throws(SystemCallError) {
        var rest = bytes[...]
        while let start = UnsafeRawBufferPointer(rebasing: rest).baseAddress, !rest.isEmpty {
            let result = writeAt(file, start, rest.count, offset + rest.startIndex)
            if result == -Int(EINTR) { continue }
            guard result > 0 else {
                throw SystemCallError(call: "pwrite", path: path(), number: result < 0 ? Int32(-result) : ENOSPC)
            }
            rest = rest.dropFirst(result)
        }
    }

    private static func result(_ result: Int) -> Int { result >= 0 ? result : -Int(errno) }

    private static func piece(_ bytes: UnsafeRawBufferPointer) -> iovec {
        iovec(iov_base: UnsafeMutableRawPointer(mutating: bytes.baseAddress), iov_len: bytes.count)
    }

    private static func advance(_ piece: inout iovec, by count: Int) {
        piece.iov_base = piece.iov_base.map { $0 + count }
        piece.iov_len -= count
    }
}
