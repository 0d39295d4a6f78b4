import FoundationEssentials
import Glibc

/// Encoded pictures in a directory, one file per key, used by any number of threads and processes at once.
///
/// A file starts with the bytes that were stored, so any program can open it; the key, the time, a checksum and extended
/// data follow them. Both get their name at once, with a rename: a file is there whole or not at all. Nothing is flushed to
/// the disk on every write; every read compares key, length and checksum instead, and a file that is not whole (torn by a
/// power cut, truncated, or rotten, or a file without the trailer that somebody put there) is removed and is a miss. A
/// failed write is not an error to the caller, the entry is just not there; ``lastError`` and ``statistics`` tell.
///
/// All methods work on the caller's thread and may block on the disk: do not call them on the main thread or on Swift's
/// cooperative threads; ``ImageCache`` has the asynchronous forms.
public final class DiskCache: Sendable {
    /// The directory, absolute.
    public let path: String

    struct State {
        var config: ImageCacheConfig
        /// As it was last opened.
        var directory: DirectoryHandle?
        var lastError: SystemCallError?
        var statistics = DiskCacheStatistics()
        var eviction = RollingEviction()
        var jumps: ClockJumpGuard
    }

    let clock: ClockSource
    let calls: FileCalls
    let state: Lock<State>
    /// Each guards read-modify-write of the keys that fall to it; held while a file is written. The values mean nothing: the
    /// thread sanitizer takes accesses to values of no size for accesses to what lies behind them.
    let stripes = (0..<16).map { _ in Lock(false) }
    /// The walk for the size limit, held during a step of it.
    let scan = Lock<RunningScan?>(nil)
    /// The pass that was left off for want of time.
    let expiryPass = Lock<ExpiryPass?>(nil)

    /// Opens a cache directory, making it if needed (with its parents, mode 0700). When that cannot be done the cache is
    /// empty and stores nothing; so it is as long as the directory is a symbolic link, belongs to another user (other than
    /// root), or may be written to by its group or by everybody. ``lastError`` says which.
    public convenience init(path: String, config: ImageCacheConfig = .default) {
        self.init(path: path, config: config, clock: .system)
    }

    /// The same with a clock of its own.
    package convenience init(path: String, config: ImageCacheConfig, clock: ClockSource) {
        self.init(path: path, config: config, clock: clock, calls: .system, sweeps: true)
    }

    /// - Parameter sweeps: whether what dead writers left behind is removed now, which takes a walk through the directory.
    package init(
        path: String,
        config: ImageCacheConfig,
        clock: ClockSource,
        calls: FileCalls = .system,
        sweeps: Bool = true
    ) {
        self.path = CacheDirectory.absolute(path)
        self.clock = clock
        self.calls = calls
        state = Lock(State(config: config, jumps: ClockJumpGuard(clock)))
        if prepareDirectory(), sweeps { sweepTemporaryFiles() }
    }

    /// Removes what writers that died left behind, from a directory that is not refused.
    func sweepTemporaryFiles() {
        guard let directory = usableDirectory() else { return }
        let now = clock.wallTime()
        scanning(directory).forEach { item in
            item.sweep(now: now)
            return true
        }
    }

    /// The configuration in use; may be changed at any time.
    public var config: ImageCacheConfig {
        get { state.withLock { $0.config } }
        set {
            let isReset = state.withLock { state in
                let old = state.config
                state.config = newValue
                guard
                    old.maxDiskSize != newValue.maxDiskSize || old.diskCacheExpireType != newValue.diskCacheExpireType
                else { return false }
                state.eviction.reset()
                return true
            }
            if isReset { dropScan() }
        }
    }

    /// Counts since this object was made.
    public var statistics: DiskCacheStatistics { state.withLock { $0.statistics } }

    /// The last error of the system, as one line; nil when there was none.
    public var lastError: WebImageError? {
        state.withLock { $0.lastError }.map {
            WebImageError(.fileAccessFailed, $0.description, underlyingError: $0)
        }
    }

    /// The file that the entry of `key` is in, whether it exists or not.
    public func cachePath(forKey key: String) -> String { path + "/" + CacheFileName(key: key).string }

    func stripe(of name: String) -> Lock<Bool> { stripes[Int(name.utf8.first?.hexValue ?? 0)] }

    func note(_ error: SystemCallError) { state.withLock { $0.lastError = error } }

    /// Now, in nanoseconds since 1970.
    func nowNanoseconds() -> Int64 { Int64(exactly: (clock.wallTime() * 1e9).rounded()) ?? 0 }

    // MARK: The directory

    // Names are looked for in the directory that was opened and checked, not along its path, so nobody who changes the path in between
    // leads anything elsewhere.

    /// The directory, if there is one that can be used; what keeps it from that is noted.
    func usableDirectory() -> DirectoryHandle? {
        do throws(SystemCallError) { return try existingDirectory() } catch {
            if !error.isAbsence { note(error) }
            return nil
        }
    }

    /// The directory, opened again when another one has its place, and made if it does not exist and `making`. Cost: a look at the path.
    func existingDirectory(making: Bool = false) throws(SystemCallError) -> DirectoryHandle {
        if let held = heldDirectory() { return held }
        do throws(SystemCallError) {
            let place = CacheDirectory(path: path)
            let handle = making ? try place.prepare() : try place.open()
            state.withLock { $0.directory = handle }
            if making { tag(handle) }
            return handle
        } catch {
            // It is closed, so that it does not keep a file system that somebody wants to be gone.
            state.withLock { $0.directory = nil }
            throw error
        }
    }

    /// Makes and checks the directory; false when it cannot be used.
    @discardableResult
    func prepareDirectory() -> Bool {
        do throws(SystemCallError) {
            tag(try existingDirectory(making: true))
            return true
        } catch {
            note(error)
            return false
        }
    }

    func scanning(_ directory: DirectoryHandle) -> DirectoryScan {
        DirectoryScan(path: path, calls: calls, directory: directory)
    }

    /// The directory that is open, if it is still what the path leads to, and still safe.
    private func heldDirectory() -> DirectoryHandle? {
        guard let held = state.withLock({ $0.directory }) else { return nil }
        var status = stat()
        // An implicit conversion to a C string would copy the path.
        guard path.withCString({ lstat($0, &status) }) == 0, held.status.isSameFile(as: status),
            CacheDirectory.distrust(status) == nil
        else {
            return nil
        }
        return held
    }

    /// A directory without a tag serves as well.
    private func tag(_ directory: DirectoryHandle) {
        guard config.writesCacheDirectoryTag else { return }
        do throws(SystemCallError) { try CacheDirectory.writeTag(in: directory) } catch { note(error) }
    }
}
