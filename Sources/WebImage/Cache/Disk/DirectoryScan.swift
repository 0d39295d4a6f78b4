import Glibc

/// A walk through a whole cache directory, tolerant of files that vanish while it goes.
struct DirectoryScan {
    typealias Item = DirectoryWalk.Item

    let path: String
    var calls = FileCalls.system
    /// The directory itself, if it is open.
    var directory: DirectoryHandle?

    /// Calls `body` with everything in the directory but "." and "..", in no order. False from `body` ends the walk.
    /// The walk is empty when there is no such directory.
    ///
    /// - Returns: why the directory could not be read to its end, nil if it could (or if there is none).
    @discardableResult
    func forEach(_ body: (Item) -> Bool) -> SystemCallError? {
        do throws(SystemCallError) {
            let walk = try DirectoryWalk(path: path, calls: calls, in: directory)
            while let item = try walk.next(), body(item) {}
            return nil
        } catch {
            return error.isAbsence ? nil : error
        }
    }

    /// Calls `body` with every entry: a regular file with the name of one. Returns what ``forEach(_:)`` does.
    @discardableResult
    func forEachEntry(_ body: (Item, stat) -> Bool) -> SystemCallError? {
        forEach { item in item.entryStatus().map { body(item, $0) } ?? true }
    }

    /// Removes what writers that died left behind.
    func sweepTemporaryFiles(now: Double) {
        forEach { item in
            item.sweep(now: now)
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
    var allocatedSize: Int { max(Int(min(st_blocks, Self.most / 512)) * 512, length) }

    /// Bytes to its end, little enough to be added up however many files somebody puts there that are nothing but holes.
    var length: Int { Int(min(st_size, Self.most)) }

    /// 256 TiB.
    private static let most = 1 << 48
}
