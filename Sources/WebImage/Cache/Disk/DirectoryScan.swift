import Glibc

/// A cache file as a walk through the directory found it.
struct ScannedEntry: Sendable {
    var name: String
    /// Disk space in bytes: what is allocated, but not less than the length.
    var allocatedSize: Int
    var size: Int
    /// The time that the walk was asked for, in nanoseconds since 1970; now, if it lies in the future.
    var time: Int64
    /// A time of the file that tells whether it has been used since: as it was found.
    var changeMark: Int64 = .min
}

/// A walk through a cache directory, tolerant of files that vanish while it goes.
struct DirectoryScan {
    let path: String
    var calls = FileCalls.system

    /// Something in the directory.
    struct Item {
        let cString: UnsafePointer<CChar>
        let directory: Int32

        var string: String { String(cString: cString) }

        var name: UnsafeBufferPointer<UInt8> {
            UnsafeRawBufferPointer(start: cString, count: strlen(cString)).assumingMemoryBound(to: UInt8.self)
        }

        /// The file's state, symbolic links not followed; nil when it has vanished.
        func status() -> stat? {
            var status = stat()
            return fstatat(directory, cString, &status, AT_SYMLINK_NOFOLLOW) == 0 ? status : nil
        }
    }

    /// Calls `body` with everything in the directory but "." and "..", in no order. False from `body` ends the walk.
    /// The walk is empty when there is no such directory.
    ///
    /// - Returns: why the directory could not be read to its end, nil if it could (or if there is none).
    @discardableResult
    func forEach(_ body: (Item) -> Bool) -> SystemCallError? {
        let file = path.withCString { calls.open($0, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        guard file >= 0 else {
            let isAbsent = file == -ENOENT || file == -ENOTDIR
            return isAbsent ? nil : SystemCallError(call: "open", path: path, number: -file)
        }
        defer { _ = calls.close(file) }
        // Closing a stream closes its descriptor, so it gets one of its own.
        let copy = fcntl(file, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { return SystemCallError(call: "open", path: path, number: errno) }
        guard let stream = fdopendir(copy) else {
            let number = errno
            close(copy)
            return SystemCallError(call: "open", path: path, number: number)
        }
        defer { closedir(stream) }
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                return errno == 0 ? nil : SystemCallError(call: "readdir", path: path, number: errno)
            }
            let goesOn = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: pointer.pointee)) {
                    name in
                    let isDots = strcmp(name, ".") == 0 || strcmp(name, "..") == 0
                    return isDots || body(Item(cString: name, directory: file))
                }
            }
            guard goesOn else { return nil }
        }
    }

    /// Calls `body` with every entry: a regular file with the name of one. Returns what ``forEach(_:)`` does.
    @discardableResult
    func forEachEntry(_ body: (Item, stat) -> Bool) -> SystemCallError? {
        forEach { item in
            guard CacheFileName.isEntryName(item.name), let status = item.status() else { return true }
            guard status.st_mode & S_IFMT == S_IFREG else { return true }
            return body(item, status)
        }
    }

    /// Removes what writers that died left behind.
    func sweepTemporaryFiles(now: Double) {
        forEach { item in
            guard EntryWriter.isTemporaryName(item.name), let status = item.status() else { return true }
            // A time in the future is one from before the clock was set back.
            if abs(now - status.st_mtim.seconds) > EntryWriter.temporaryGrace {
                unlinkat(item.directory, item.cString, 0)
            }
            return true
        }
    }
}

extension timespec {
    /// Seconds since 1970.
    var seconds: Double { Double(tv_sec) + Double(tv_nsec) / 1e9 }

    /// Nanoseconds since 1970, clamped to what fits.
    var nanoseconds: Int64 {
        let (product, overflow) = Int64(tv_sec).multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, overflow2) = product.addingReportingOverflow(Int64(tv_nsec))
        return overflow || overflow2 ? (tv_sec < 0 ? .min : .max) : sum
    }

    /// A time in seconds since 1970.
    init(seconds: Double) {
        let clamped = min(max(seconds.isFinite ? seconds : 0, -0x1p60), 0x1p60)
        let whole = clamped.rounded(.down)
        self.init(tv_sec: Int(whole), tv_nsec: Int(min((clamped - whole) * 1e9, 999_999_999)))
    }
}

extension stat {
    /// Disk space in bytes: what is allocated, but not less than the length; some file systems report nothing for small
    /// files that they keep elsewhere.
    var allocatedSize: Int { max(Int(st_blocks) * 512, Int(st_size)) }
}
