package import FoundationEssentials
import Glibc

/// The bytes of an image whose regions are read: in memory, or those of an open file.
package final class RegionBytes: Sendable {
    /// The bytes in memory; nil for a file that is not loaded.
    private let memory: Lock<Data?>
    private let opened: RegionFile?
    package let byteCount: Int
    /// The first bytes, from which the format is detected.
    package let beginning: Data
    /// Returns a text that identifies the contents, for files derived from them.
    package let identity: @Sendable () -> String
    private let path: String

    package init(_ data: Data) {
        // Slices are copied, so that offsets count from 0.
        let data = data.startIndex == 0 ? data : Data(data)
        (memory, opened, byteCount, path) = (Lock(data), nil, data.count, "")
        beginning = data.prefix(Self.beginningCount)
        identity = {
            let hash = data.withUnsafeBytes { (Hashing.xxh3($0), Hashing.xxh3($0, seed: 1)) }
            return "data \(data.count) \(hash.0) \(hash.1)"
        }
    }

    /// Opens a regular file.
    ///
    /// - Throws: ``WebImageError/Code/fileNotFound``, ``WebImageError/Code/fileAccessFailed``.
    package init(path: String) throws(WebImageError) {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard file >= 0 else {
            let number = errno
            let code: WebImageError.Code = number == ENOENT || number == ENOTDIR ? .fileNotFound : .fileAccessFailed
            throw WebImageError(code, "\(path): \(String(cString: strerror(number)))")
        }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(file)
            throw WebImageError(.fileAccessFailed, "\(path): not a regular file")
        }
        let (changed, written) = (status.st_ctim, status.st_mtim)
        let parts = [
            Int(status.st_dev), Int(status.st_ino), Int(status.st_size), written.tv_sec, written.tv_nsec,
            changed.tv_sec,
            changed.tv_nsec,
        ]
        identity = { "file " + parts.map(String.init).joined(separator: " ") }
        let opened = RegionFile(adopting: file, byteCount: Int(status.st_size))
        (self.opened, byteCount, self.path, memory) = (opened, opened.byteCount, path, Lock(nil))
        beginning = try Self.read(file, 0, min(Self.beginningCount, byteCount), path)
    }

    /// Uses bytes of another reader.
    convenience init(_ input: RegionInput) throws(WebImageError) {
        switch input.bytes {
        case .data(let data): self.init(data)
        case .file(let file): try self.init(file)
        }
    }

    private init(_ file: RegionFile) throws(WebImageError) {
        (opened, byteCount, path, memory) = (file, file.byteCount, "the file", Lock(nil))
        identity = { "" }
        beginning = try Self.read(file.descriptor, 0, min(Self.beginningCount, byteCount), path)
    }

    /// The descriptor of the file; -1 without one.
    package var file: Int32 { opened?.descriptor ?? -1 }

    /// The bytes for a server.
    var input: RegionInput {
        if let opened { return RegionInput(.file(opened), beginning: beginning) }
        return RegionInput(.data(memory.withLock { $0 } ?? Data()), beginning: beginning)
    }

    /// Enough for the detection of every format.
    private static let beginningCount = 64 << 10

    /// Returns the first bytes, at least that many unless the image has fewer.
    package func prefix(_ count: Int) throws(WebImageError) -> Data {
        if let data = memory.withLock({ $0 }) { return data.prefix(count) }
        guard count > beginning.count else { return beginning }
        return try Self.read(file, 0, min(count, byteCount), path)
    }

    /// Calls `body` with the first bytes, and with more of them as long as it throws that they are damaged: a header may be long.
    func longEnoughPrefix<Value>(_ body: (Data) throws(WebImageError) -> Value) throws(WebImageError) -> Value {
        var count = beginning.count
        while true {
            let start = try prefix(count)
            do throws(WebImageError) { return try body(start) } catch {
                guard error.code == .badImageData, count < byteCount, count < 8 << 20 else { throw error }
                count *= 8
            }
        }
    }

    /// Returns all bytes, which stay in memory.
    ///
    /// - Throws: ``WebImageError/Code/limitExceeded``, ``WebImageError/Code/fileAccessFailed``.
    package func data(_ limits: ImageLimits) throws(WebImageError) -> Data {
        guard byteCount <= limits.maximumEncodedByteCount else {
            let most = limits.maximumEncodedByteCount
            throw .limitExceeded("maximumEncodedByteCount", allowed: most, required: byteCount)
        }
        if let data = memory.withLock({ $0 }) { return data }
        let data = try Self.read(file, 0, byteCount, path)
        memory.withLock { $0 = data }
        return data
    }

    private static func read(_ file: Int32, _ offset: Int, _ count: Int, _ path: String) throws(WebImageError) -> Data {
        guard count > 0, let buffer = malloc(count) else {
            guard count > 0 else { return Data() }
            throw WebImageError(.outOfMemory, "no memory for \(count) bytes of \(path)")
        }
        do throws(SystemCallError) {
            try FileCalls.system.readFully(file, into: buffer, count: count, at: offset, path: path)
        } catch {
            free(buffer)
            throw WebImageError(.fileAccessFailed, error.description)
        }
        return Data(bytesNoCopy: buffer, count: count, deallocator: .free)
    }
}
