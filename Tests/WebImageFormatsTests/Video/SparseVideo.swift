import FoundationEssentials
import Glibc
import TestSupport

/// `h264.mp4` with a hole in front of its index, so that it is as long as a film.
enum SparseVideo {
    /// Makes the file and returns its path. Its boxes are `ftyp`, `free` and `mdat`, then a `free` box that is a hole, then `moov`.
    static func make(in directory: TemporaryDirectory, at name: String = "film.mp4", byteCount: Int) throws -> String {
        let data = try Fixtures.data("Video/h264.mp4")
        let moov = try offset(of: "moov", in: data)
        let path = directory.path(name)
        let file = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
        defer { close(file) }
        let hole = byteCount - data.count
        var header = Data([0, 0, 0, 1] + Array("free".utf8))
        header.append(contentsOf: (0..<8).reversed().map { UInt8(truncatingIfNeeded: hole >> (8 * $0)) })
        let start = Data(data.prefix(moov)) + header
        try write(start, to: file, at: 0)
        try write(Data(data.dropFirst(moov)), to: file, at: moov + hole)
        return path
    }

    private static func write(_ data: Data, to file: Int32, at offset: Int) throws {
        let count = data.withUnsafeBytes { pwrite(file, $0.baseAddress, $0.count, off_t(offset)) }
        guard count == data.count else { throw CocoaError(.fileWriteUnknown) }
    }

    /// Returns the offset of a box in the file.
    private static func offset(of name: String, in data: Data) throws -> Int {
        var offset = 0
        while offset + 8 <= data.count {
            let size = data.dropFirst(offset).prefix(4).reduce(0) { $0 << 8 | Int($1) }
            if data.dropFirst(offset + 4).prefix(4).elementsEqual(name.utf8) { return offset }
            offset += max(size, 8)
        }
        throw CocoaError(.fileReadCorruptFile)
    }
}
