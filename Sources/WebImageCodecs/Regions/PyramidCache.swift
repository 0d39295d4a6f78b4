import FoundationEssentials
import Glibc

/// A directory for tiles of images whose regions cannot be read otherwise: PNG, strips of TIFF, progressive JPEG and others above 128 MiB of pixels.
///
/// The first reads of such an image decode it once, from the top, and write tiles of 512 pixels at all levels into one file. Readers of the same bytes
/// use that file later, also in other processes: it is found by the file's identity (device, inode, size, times), or by a hash of data in memory. Tiles
/// of JPEG are JPEG of quality 95, others are lossless. The file takes about a third more than the image in that format.
///
/// A file that is damaged, or was not completed, is made again. The directory has mode 0700.
public struct PyramidCache: Sendable, Hashable {
    /// The path of the directory. It is created when it is needed, with its parent directories.
    public var directory: String
    /// The maximum number of bytes of all files, also of those that other processes are writing. The files that were opened least recently are removed
    /// to make room. 1 GiB by default. An image that needs more is refused with ``WebImageError/Code/limitExceeded``.
    public var maximumByteCount: Int

    /// Creates a description of a directory. Nothing is read or written.
    public init(directory: String, maximumByteCount: Int = 1 << 30) {
        self.directory = directory
        self.maximumByteCount = maximumByteCount
    }

    /// The directory `webimage-pyramids` in the user's cache directory (`$XDG_CACHE_HOME`, else `~/.cache`); nil if there is neither.
    public static var shared: PyramidCache? {
        let (cache, home) = (environment("XDG_CACHE_HOME"), environment("HOME"))
        guard let parent = cache ?? home.map({ $0 + "/.cache" }) else { return nil }
        return PyramidCache(directory: parent + "/webimage-pyramids")
    }

    /// Returns the absolute path in a variable; relative paths are ignored, as the XDG specification requires.
    private static func environment(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }.flatMap { $0.hasPrefix("/") ? $0 : nil }
    }

    /// Removes all files of pyramids. Readers that have opened one continue to use it. Blocks the thread.
    public func removeAll() {
        for file in files() { unlink(path(file.name)) }
        removeAbandonedParts()
    }

    // MARK: Files

    /// The number and bytes of the files, also of those that are being written. Blocks the thread.
    package var usage: (fileCount: Int, byteCount: Int) {
        let files = list { $0.hasSuffix(Self.suffix) || $0.hasPrefix(Self.partPrefix) }
        return (files.count, files.reduce(0) { $0 + $1.byteCount })
    }

    static let suffix = ".pyramid"

    func path(_ name: String) -> String { directory + "/" + name }

    /// Returns the name of the file for an image.
    func name(_ identity: String) -> String { Hashing.md5Hex(identity, suffix: Self.suffix) }

    /// Creates the directory.
    ///
    /// - Throws: ``WebImageError/Code/fileAccessFailed``.
    func create() throws(WebImageError) {
        var parent = ""
        for part in directory.split(separator: "/", omittingEmptySubsequences: true) {
            parent += (parent.isEmpty && !directory.hasPrefix("/") ? "" : "/") + part
            if mkdir(parent, 0o700) != 0, errno != EEXIST {
                throw WebImageError(.fileAccessFailed, "\(parent): \(String(cString: strerror(errno)))")
            }
        }
    }

    /// Removes files whose writers have ended without completing them. A writer holds a lock, which ends with its process.
    func removeAbandonedParts() {
        let now = time(nil)
        // The lock of a younger file may not be taken yet.
        for part in list({ $0.hasPrefix(Self.partPrefix) }) where part.used.seconds < now - 60 {
            // On NFS, locks need write access.
            let file = open(path(part.name), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
            guard file >= 0 else { continue }
            // Without locks in the file system, the age decides.
            if flock(file, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK && part.used.seconds < now - 86_400 {
                unlink(path(part.name))
            }
            close(file)
        }
    }

    static let partPrefix = "part-"

    /// The files with their sizes, the least recently used one first.
    private func files() -> [(name: String, byteCount: Int)] {
        list { $0.hasSuffix(Self.suffix) }.sorted { $0.used < $1.used }.map { ($0.name, $0.byteCount) }
    }

    /// A time of a file, since 1970. Its seconds can be too many to count them in nanoseconds.
    private typealias FileTime = (seconds: Int, nanoseconds: Int)

    /// Returns the regular files whose names are wanted.
    private func list(_ isWanted: (String) -> Bool) -> [(name: String, byteCount: Int, used: FileTime)] {
        guard let stream = opendir(directory) else { return [] }
        defer { closedir(stream) }
        var files: [(name: String, byteCount: Int, used: FileTime)] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            var status = stat()
            guard isWanted(name), lstat(path(name), &status) == 0, status.st_mode & S_IFMT == S_IFREG
            else { continue }
            let used = (seconds: status.st_mtim.tv_sec, nanoseconds: status.st_mtim.tv_nsec)
            files.append((name, Int(status.st_size), used))
        }
        return files
    }

    /// Removes files until a file of that many bytes fits in.
    ///
    /// - Parameters:
    ///   - part: The name of the file, which is being written.
    ///   - kept: The name of the file that it will replace, which is not removed.
    /// - Returns: The number of bytes that are missing because other files are being written; 0 or less if it fits in.
    func makeRoom(for byteCount: Int, of part: String, keeping kept: String) -> Int {
        let others = list { $0.hasPrefix(Self.partPrefix) && $0 != part }
        var files = files()
        var excess = byteCount - maximumByteCount
        for count in others.map(\.byteCount) + files.map(\.byteCount) { excess += count }
        while excess > 0, let file = files.first {
            files.removeFirst()
            // Not counted any more, as it will be replaced.
            if file.name == kept || unlink(path(file.name)) == 0 { excess -= file.byteCount }
        }
        return excess
    }
}
