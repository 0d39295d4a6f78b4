import CLinux
import FoundationEssentials
import Glibc

/// Which file it was, for removing that very file and not one that has taken its place.
///
/// The number of a file that was removed is soon given to another, hence length and time of the last write.
struct FileIdentity: Sendable, Hashable {
    let device: dev_t
    let inode: ino_t
    let size: Int
    let modified: Int64

    init(_ status: stat) {
        device = status.st_dev
        inode = status.st_ino
        size = Int(status.st_size)
        modified = status.st_mtim.nanoseconds
    }
}

/// A file that was read and found whole.
struct LoadedEntry: Sendable {
    let block: FileBlock
    let footer: EntryFooter

    /// The picture's bytes, without a copy.
    var data: Data { block.data(count: footer.bodyLength) }

    var records: EntryRecords {
        let end = footer.bodyLength + footer.recordsLength
        return EntryRecords(bytes: UnsafeRawBufferPointer(rebasing: block.bytes[footer.bodyLength..<end]))
    }

    /// The picture with what was stored with it.
    var content: CachedImageData {
        var content = CachedImageData(data: data)
        content.dataHash.value = footer.contentHash
        records.forEach { tag, bytes in
            switch tag {
            case EntryTrailer.Tag.extendedData: content.extendedData = Data(bytes)
            case EntryTrailer.Tag.response: content.validators = ResponseLines(Data(bytes)).validators
            case EntryTrailer.Tag.thumbHash: content.thumbHash = ThumbHash(bytes: bytes)
            default: break
            }
        }
        return content
    }

    /// Everything that belongs to the picture; nil when there is no key.
    var trailer: EntryTrailer? { records.trailer(created: footer.created) }
}

/// Reads entries and checks them: length, hashes, key.
struct EntryReader: Sendable {
    /// What came of reading a file.
    enum Outcome {
        /// A whole entry, and the file's state when it was opened.
        case entry(LoadedEntry, status: stat)
        /// There is no file.
        case absent
        /// There is something that is not to be touched: no regular file, an entry of another key, or of a later version.
        case foreign
        /// The bytes are not those that were stored.
        case damaged(FileIdentity, reason: String)
        /// The file cannot be opened.
        case failed(SystemCallError)
    }

    /// Files up to this size are read before their footer is checked.
    private static let checkFirstSize = 64 << 20
    /// Why a file that this library did not write, or did not write to its end, is no entry.
    static let noFooter = "there is no footer"

    let calls: FileCalls

    /// Opens a file to read it; refuses symbolic links, and never waits for a FIFO.
    func open(_ path: String) throws(SystemCallError) -> (file: Int32, status: stat) {
        let file = path.withCString { calls.open($0, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY) }
        guard file >= 0 else { throw SystemCallError(call: "open", path: path, number: -file) }
        var status = stat()
        guard fstat(file, &status) == 0 else {
            let number = errno
            _ = calls.close(file)
            throw SystemCallError(call: "fstat", path: path, number: number)
        }
        return (file, status)
    }

    /// Reads the entry of `key` (of any key, if nil) at `path`.
    ///
    /// - Parameter accessed: called with the open file and its state when the entry is whole.
    func read(
        _ path: String,
        key: String?,
        mapped: Bool = false,
        accessed: (_ file: Int32, _ status: stat) -> Void = { _, _ in }
    ) -> Outcome {
        let file: Int32
        let status: stat
        do throws(SystemCallError) {
            (file, status) = try open(path)
        } catch {
            switch error.number {
            case ENOENT, ENOTDIR: return .absent
            case ELOOP, ENXIO: return .foreign
            default: return .failed(error)
            }
        }
        defer { _ = calls.close(file) }
        guard status.st_mode & S_IFMT == S_IFREG else { return .foreign }
        let identity = FileIdentity(status)
        let block: FileBlock
        do throws(SystemCallError) {
            if Int(status.st_size) > Self.checkFirstSize, trailer(file, status: status) == nil {
                return .damaged(identity, reason: Self.noFooter)
            }
            block = try FileBlock.load(file, size: Int(status.st_size), mapped: mapped, calls: calls, path: path)
        } catch {
            // A disk that cannot read the bytes any more will not later; memory may be there later.
            return error.number == EIO ? .damaged(identity, reason: error.description) : .failed(error)
        }
        let outcome = check(block, key: key, status: status)
        if case .entry = outcome { accessed(file, status) }
        return outcome
    }

    private func check(_ block: FileBlock, key: String?, status: stat) -> Outcome {
        let identity = FileIdentity(status)
        let footer: EntryFooter
        do throws(EntryFooter.Failure) {
            guard let found = try EntryFooter.read(from: block.bytes, fileSize: block.bytes.count) else {
                return .damaged(identity, reason: "the records do not fit")
            }
            footer = found
        } catch {
            switch error {
            case .absent: return .damaged(identity, reason: Self.noFooter)
            case .damaged: return .damaged(identity, reason: "the trailer is damaged")
            case .unknownVersion: return .foreign
            }
        }
        let body = UnsafeRawBufferPointer(rebasing: block.bytes[..<footer.bodyLength])
        let end = footer.bodyLength + footer.recordsLength
        let records = EntryRecords(bytes: UnsafeRawBufferPointer(rebasing: block.bytes[footer.bodyLength..<end]))
        if let key, !records.hasKey(key) { return .foreign }
        guard Hashing.xxh3(body) == footer.bodyHash else {
            return .damaged(identity, reason: "the bytes do not match their checksum")
        }
        return .entry(LoadedEntry(block: block, footer: footer), status: status)
    }

    /// What belongs to an open entry, without its bytes. Reads the end of the file only; the bytes are not checked.
    func trailer(
        _ file: Int32,
        status: stat
    ) -> (trailer: EntryTrailer, footer: EntryFooter)? {
        let size = Int(status.st_size)
        var length = min(size, 4096)
        while length >= EntryTrailer.footerSize {
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: length, alignment: 16)
            defer { buffer.deallocate() }
            guard pread(file, buffer.baseAddress, length, off_t(size - length)) == length else { return nil }
            let tail = UnsafeRawBufferPointer(buffer)
            let needed = recordsLength(in: tail) &+ EntryTrailer.footerSize
            guard let footer = try? EntryFooter.read(from: tail, fileSize: size) else {
                guard length < size, needed > length, needed <= size else { return nil }
                length = needed
                continue
            }
            let start = length - EntryTrailer.footerSize - footer.recordsLength
            let records = EntryRecords(
                bytes: UnsafeRawBufferPointer(rebasing: tail[start..<(length - EntryTrailer.footerSize)])
            )
            return records.trailer(created: footer.created).map { ($0, footer) }
        }
        return nil
    }

    private func recordsLength(in tail: UnsafeRawBufferPointer) -> Int {
        let offset = tail.count - EntryTrailer.footerSize + 8
        return Int(
            truncatingIfNeeded: UInt64(littleEndian: tail.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        )
    }
}

/// The bytes of a file: in memory of their own, or mapped.
final class FileBlock: @unchecked Sendable {
    // Sendable because the bytes are not written any more once the block has been made.
    let bytes: UnsafeRawBufferPointer
    private let isMapped: Bool

    private init(_ bytes: UnsafeRawBufferPointer, isMapped: Bool) {
        self.bytes = bytes
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
        size: Int,
        mapped: Bool,
        calls: FileCalls,
        path: String
    ) throws(SystemCallError) -> FileBlock {
        if mapped, size > 0 {
            guard let base = mmap(nil, size, PROT_READ, MAP_PRIVATE, file, 0), base != MAP_FAILED else {
                throw SystemCallError(call: "mmap", path: path, number: errno)
            }
            return FileBlock(UnsafeRawBufferPointer(start: base, count: size), isMapped: true)
        }
        guard let base = BufferPool.shared.take(byteCount: size) else {
            throw SystemCallError(call: "read", path: path, number: ENOMEM)
        }
        let block = FileBlock(UnsafeRawBufferPointer(start: base, count: size), isMapped: false)
        try calls.readFully(file, into: base, count: size, path: path)
        return block
    }

    /// The first `count` bytes, without a copy; they keep the block.
    func data(count: Int) -> Data {
        guard count > 0, let base = UnsafeMutableRawPointer(mutating: bytes.baseAddress) else { return Data() }
        return Data(bytesNoCopy: base, count: count, deallocator: .custom { _, _ in _ = self })
    }
}
