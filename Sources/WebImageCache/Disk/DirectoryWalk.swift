package import Glibc

/// A position in a directory listing, which can be resumed at any time.
///
/// Files that are created or removed in the meantime may or may not be listed. Must be used by one thread at a time.
package final class DirectoryWalk {
    /// A directory item; valid until the next one is requested.
    package struct Item {
        let cString: UnsafePointer<CChar>
        let directory: Int32
        fileprivate let calls: FileCalls

        package var string: String { String(cString: cString) }

        var name: UnsafeBufferPointer<UInt8> {
            UnsafeRawBufferPointer(start: cString, count: strlen(cString)).assumingMemoryBound(to: UInt8.self)
        }

        /// Returns the file's state, without following symbolic links; nil if it has vanished.
        func status() -> stat? {
            var status = stat()
            return calls.status(directory, cString, &status) == 0 ? status : nil
        }

        /// Returns the state of an entry: a regular file with an entry's name; nil for any other item, or if it has vanished.
        func entryStatus() -> stat? {
            guard CacheFileName.isEntryName(name), let status = status() else { return nil }
            return status.st_mode & S_IFMT == S_IFREG ? status : nil
        }

        /// Removes a temporary file whose writer died. Returns whether the item is a temporary file.
        @discardableResult
        func sweep(now: Double) -> Bool {
            guard EntryWriter.isTemporaryName(name) else { return false }
            // A time in the future is from before the clock was set back.
            if let status = status(), abs(now - status.st_mtim.seconds) > EntryWriter.temporaryGrace {
                unlinkat(directory, cString, 0)
            }
            return true
        }
    }

    private static let nameOffset = MemoryLayout<dirent>.offset(of: \dirent.d_name) ?? 19

    private let path: String
    private let calls: FileCalls
    private let directory: Int32
    private let stream: OpaquePointer
    /// The tags of the items listed so far; nil if items may be listed again.
    private var listed: Set<UInt64>?

    /// Opens the listing of `place`; if that is nil, of the path, which must not be a symbolic link.
    ///
    /// - Parameter once: true to list each item once, for 32 bytes of memory per item; false to pass on what the file system lists:
    ///   tmpfs (of Linux 6.18) can list files again while others are removed.
    init(path: String, calls: FileCalls, in place: DirectoryHandle?, once: Bool) throws(SystemCallError) {
        let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
        let file = (place == nil ? path : ".").withCString { calls.open(place?.descriptor ?? AT_FDCWD, $0, flags) }
        guard file >= 0 else { throw SystemCallError(call: "open", path: path, number: -file) }
        // Closing a stream closes its descriptor, so it gets a duplicate.
        let copy = fcntl(file, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0, let stream = fdopendir(copy) else {
            let number = errno
            if copy >= 0 { close(copy) }
            _ = calls.close(file)
            throw SystemCallError(call: "open", path: path, number: number)
        }
        self.path = path
        self.calls = calls
        self.stream = stream
        directory = file
        if once { listed = [] }
    }

    deinit {
        closedir(stream)
        _ = calls.close(directory)
    }

    /// Returns the next item except "." and ".."; nil at the end.
    package func next() throws(SystemCallError) -> Item? {
        while true {
            errno = 0
            guard let entry = calls.list(stream) else {
                let number = errno
                guard number == 0 else { throw SystemCallError(call: "readdir", path: path, number: number) }
                return nil
            }
            let name = UnsafeRawPointer(entry) + Self.nameOffset
            let item = Item(cString: name.assumingMemoryBound(to: CChar.self), directory: directory, calls: calls)
            if strcmp(item.cString, ".") == 0 || strcmp(item.cString, "..") == 0 { continue }
            if listed?.insert(RollingEviction.tag(item.name)).inserted != false { return item }
        }
    }

    /// True if the path now leads to another directory: the listing is of no use then.
    var isReplaced: Bool {
        var listed = stat()
        var current = stat()
        return fstat(directory, &listed) != 0 || lstat(path, &current) != 0 || !listed.isSameFile(as: current)
    }
}

/// An enumeration of a whole cache directory that tolerates files that vanish in the meantime.
package struct DirectoryScan {
    let path: String
    var calls = FileCalls.system
    /// The directory, if it is open.
    var directory: DirectoryHandle?

    package init(path: String, calls: FileCalls = .system, directory: DirectoryHandle? = nil) {
        (self.path, self.calls, self.directory) = (path, calls, directory)
    }

    /// Calls `body` with every item in the directory except "." and "..", in no order. If `body` returns false, the enumeration
    /// ends. A missing directory counts as empty.
    ///
    /// - Parameter once: see ``DirectoryWalk/init(path:calls:in:once:)``.
    /// - Returns: the error if the directory could not be read to its end; nil if it could, or if it does not exist.
    @discardableResult
    package func forEach(once: Bool = false, _ body: (DirectoryWalk.Item) -> Bool) -> SystemCallError? {
        do throws(SystemCallError) {
            let walk = try DirectoryWalk(path: path, calls: calls, in: directory, once: once)
            while let item = try walk.next(), body(item) {}
            return nil
        } catch {
            return error.isAbsence ? nil : error
        }
    }

    /// Calls `body` with every entry: a regular file with an entry's name. Returns the same as ``forEach(once:_:)``.
    @discardableResult
    package func forEachEntry(once: Bool = false, _ body: (DirectoryWalk.Item, stat) -> Bool) -> SystemCallError? {
        forEach(once: once) { item in item.entryStatus().map { body(item, $0) } ?? true }
    }
}

extension timespec {
    /// Leaves a file's time unchanged: UTIME_OMIT.
    static let omitted = timespec(tv_sec: 0, tv_nsec: (1 << 30) - 2)

    /// Seconds since 1970.
    var seconds: Double { Double(tv_sec) + Double(tv_nsec) / 1e9 }

    /// Nanoseconds since 1970, clamped to the range of the type.
    var nanoseconds: Int64 {
        let (product, overflow) = Int64(tv_sec).multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, overflow2) = product.addingReportingOverflow(Int64(tv_nsec))
        return overflow || overflow2 ? (tv_sec < 0 ? .min : .max) : sum
    }

    /// Creates a time from seconds since 1970.
    package init(seconds: Double) {
        let clamped = min(max(seconds.isFinite ? seconds : 0, -0x1p60), 0x1p60)
        let whole = clamped.rounded(.down)
        self.init(tv_sec: Int(whole), tv_nsec: Int(min((clamped - whole) * 1e9, 999_999_999)))
    }
}

extension stat {
    /// The disk space in bytes: the allocated size, but at least the length, because some file systems report no blocks for small
    /// files that they store inline.
    package var allocatedSize: Int { max(Int(min(st_blocks, Self.most / 512)) * 512, length) }

    /// The length in bytes, clamped so that sums do not overflow even with many sparse files.
    var length: Int { Int(min(st_size, Self.most)) }

    private static let most = 1 << 48

    /// Returns whether both describe the same file.
    func isSameFile(as other: stat) -> Bool { st_dev == other.st_dev && st_ino == other.st_ino }

    /// Returns whether both describe the same file, unmodified. The inode number of a removed file is soon reused, so the length
    /// and the modification time are compared, too.
    func isUnchanged(since earlier: stat) -> Bool {
        isSameFile(as: earlier) && st_size == earlier.st_size && st_mtim.nanoseconds == earlier.st_mtim.nanoseconds
    }
}
