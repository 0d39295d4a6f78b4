import FoundationEssentials
import Glibc

/// The bytes of a file: in allocated memory, or mapped.
final class FileBlock: @unchecked Sendable {
    // Sendable because the bytes are not written after the block is created.
    let bytes: UnsafeRawBufferPointer
    /// The file's state when it was opened.
    let status: stat
    private let isMapped: Bool

    private init(_ bytes: UnsafeRawBufferPointer, _ status: stat, isMapped: Bool) {
        self.bytes = bytes
        self.status = status
        self.isMapped = isMapped
    }

    deinit {
        guard let base = UnsafeMutableRawPointer(mutating: bytes.baseAddress) else { return }
        if isMapped {
            munmap(base, bytes.count)
        } else {
            BufferPool.shared.give(base, byteCount: bytes.count)
        }
    }

    static func load(
        _ file: Int32,
        status: stat,
        mapped: Bool,
        calls: FileCalls,
        path: @autoclosure () -> String
    ) throws(SystemCallError) -> FileBlock {
        let size = Int(status.st_size)
        if mapped, size > 0 {
            guard let base = mmap(nil, size, PROT_READ, MAP_PRIVATE, file, 0), base != MAP_FAILED else {
                throw SystemCallError(call: "mmap", path: path(), number: errno)
            }
            return FileBlock(UnsafeRawBufferPointer(start: base, count: size), status, isMapped: true)
        }
        guard let base = BufferPool.shared.take(byteCount: size) else {
            throw SystemCallError(call: "read", path: path(), number: ENOMEM)
        }
        let block = FileBlock(UnsafeRawBufferPointer(start: base, count: size), status, isMapped: false)
        try calls.readFully(file, into: base, count: size, path: path())
        return block
    }

    /// Returns the first `count` bytes, without a copy; they retain the block.
    func data(count: Int) -> Data {
        guard count > 0, let base = UnsafeMutableRawPointer(mutating: bytes.baseAddress) else { return Data() }
        return Data(bytesNoCopy: base, count: count, deallocator: .custom { _, _ in _ = self })
    }
}
