import CLinux
import FoundationEssentials
import Glibc

/// A file of tiles that is read, or written.
final class PyramidFile: @unchecked Sendable {
    // Sendable because the descriptor never changes, `end` and `checkedEnd` are used by the one thread that writes, and the others have locks.

    private let file: Int32
    private let cache: PyramidCache
    private let index: Lock<PyramidIndex>
    private let name: String
    /// The offset of the next tile.
    private var end = PyramidIndex.magic.count
    /// The end for which room was made last.
    private var checkedEnd = 0
    /// The path until the file is complete; nil for a complete one.
    private let temporary: Lock<String?>

    private init(_ file: Int32, _ cache: PyramidCache, _ index: PyramidIndex, name: String, temporary: String? = nil) {
        (self.file, self.cache, self.name) = (file, cache, name)
        (self.index, self.temporary) = (Lock(index), Lock(temporary))
    }

    deinit {
        close(file)
        if let path = temporary.withLock({ $0 }) { unlink(path) }
    }

    /// Opens the complete file of an image; nil if there is none that is sound.
    static func open(_ cache: PyramidCache, _ wanted: PyramidIndex) -> PyramidFile? {
        let name = cache.name(wanted.identity + " \(wanted.tileSize)")
        let file = Glibc.open(cache.path(name), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else { return nil }
        guard let index = readIndex(file), index.identity == wanted.identity, index.levels == wanted.levels,
            index.tileSize == wanted.tileSize
        else {
            close(file)
            return nil
        }
        // Marks the file as used.
        futimens(file, nil)
        return PyramidFile(file, cache, index, name: name)
    }

    private static func readIndex(_ file: Int32) -> PyramidIndex? {
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid() else {
            return nil
        }
        let count = Int(status.st_size)
        let trailerCount = PyramidIndex.trailerByteCount
        guard count > trailerCount, let trailer = try? read(file, count - trailerCount, trailerCount),
            let (range, checksum) = PyramidIndex.range(trailer: trailer, fileByteCount: count),
            let bytes = try? read(file, range.lowerBound, range.count)
        else { return nil }
        return PyramidIndex(parsing: bytes, checksum: checksum, offset: range.lowerBound)
    }

    /// Creates a file that gets its name when it is complete.
    ///
    /// - Throws: ``WebImageError/Code/fileAccessFailed``.
    static func create(_ cache: PyramidCache, _ index: PyramidIndex) throws(WebImageError) -> PyramidFile {
        try cache.create()
        cache.removeAbandonedParts()
        let temporary = cache.path("\(PyramidCache.partPrefix)\(String(UInt64.random(in: .min ... .max), radix: 36))")
        let file = Glibc.open(temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw error(temporary, errno) }
        // Marks the file as being written.
        _ = flock(file, LOCK_EX | LOCK_NB)
        let name = cache.name(index.identity + " \(index.tileSize)")
        let result = PyramidFile(file, cache, index, name: name, temporary: temporary)
        try result.write(Data(PyramidIndex.magic), at: 0)
        return result
    }

    private static func error(_ path: String, _ number: Int32) -> WebImageError {
        WebImageError(.fileAccessFailed, "\(path): \(String(cString: strerror(number)))")
    }

    // MARK: Writing

    /// Appends a tile.
    ///
    /// - Throws: ``WebImageError/Code/limitExceeded`` if the file gets too large for the cache, ``WebImageError/Code/fileAccessFailed``.
    func append(_ tile: Data, level: Int, column: Int, row: Int) throws(WebImageError) {
        let (most, required) = (cache.maximumByteCount, end + tile.count)
        guard required <= most else {
            throw .limitExceeded("PyramidCache.maximumByteCount", allowed: most, required: required)
        }
        // Looking at the directory takes longer than writing a small tile.
        if required - checkedEnd > most / 64 {
            let missing = cache.makeRoom(for: required, of: part, keeping: name)
            guard missing <= 0 else {
                throw .limitExceeded("PyramidCache.maximumByteCount", allowed: most, required: most + missing)
            }
            checkedEnd = required
        }
        try write(tile, at: end)
        let checksum = tile.withUnsafeBytes { Hashing.xxh3($0) }
        let entry = PyramidIndex.Entry(offset: end, byteCount: tile.count, checksum: checksum)
        end = required
        index.withLock { $0[level, column: column, row: row] = entry }
    }

    /// Completes the file, which replaces an older one. If that fails, this reader still has its tiles.
    func finish() {
        guard let path = temporary.withLock({ $0 }) else { return }
        let bytes = index.withLock { $0 }.encoded(at: end)
        _ = cache.makeRoom(for: end + bytes.count, of: part, keeping: name)
        do throws(WebImageError) { try write(bytes, at: end) } catch { return }
        if rename(path, cache.path(name)) == 0 { temporary.withLock { $0 = nil } }
    }

    /// The name of the file until it is complete.
    private var part: String {
        temporary.withLock { $0 }.flatMap { $0.split(separator: "/").last.map(String.init) } ?? ""
    }

    private func write(_ data: Data, at offset: Int) throws(WebImageError) {
        try data.withBytes { (bytes) throws(WebImageError) in
            var done = 0
            while done < bytes.count, let base = bytes.baseAddress {
                let result = FileCalls.system.writeAt(file, base + done, bytes.count - done, offset + done)
                if result == -Int(EINTR) { continue }
                guard result > 0 else { throw Self.error(cache.directory, result < 0 ? Int32(-result) : EIO) }
                done += result
            }
        }
    }

    // MARK: Reading

    /// Returns the bytes of a tile.
    ///
    /// - Throws: ``WebImageError/Code/badImageData`` for a damaged file, which is removed, so that it is made again.
    func tile(level: Int, column: Int, row: Int) throws(WebImageError) -> Data {
        let entry = index.withLock { $0[level, column: column, row: row] }
        // A read fails if the file was truncated after it was opened.
        guard entry.byteCount > 0, let data = try? Self.read(file, entry.offset, entry.byteCount),
            data.withUnsafeBytes({ Hashing.xxh3($0) }) == entry.checksum
        else {
            remove()
            throw WebImageError(.badImageData, "the tiles in \(cache.directory) are damaged")
        }
        return data
    }

    /// Removes the file, unless it is still being written or another process has replaced it.
    private func remove() {
        guard temporary.withLock({ $0 }) == nil else { return }
        let path = cache.path(name)
        var (own, current) = (stat(), stat())
        guard fstat(file, &own) == 0, lstat(path, &current) == 0, own.st_dev == current.st_dev,
            own.st_ino == current.st_ino
        else { return }
        unlink(path)
    }

    private static func read(_ file: Int32, _ offset: Int, _ count: Int) throws(WebImageError) -> Data {
        var data = Data(count: count)
        let problem: SystemCallError? = data.withUnsafeMutableBytes { bytes in
            guard let base = bytes.baseAddress else { return nil }
            do throws(SystemCallError) {
                try FileCalls.system.readFully(file, into: base, count: count, at: offset, path: "tiles of an image")
                return nil
            } catch {
                return error
            }
        }
        if let problem { throw WebImageError(.fileAccessFailed, problem.description) }
        return data
    }
}
