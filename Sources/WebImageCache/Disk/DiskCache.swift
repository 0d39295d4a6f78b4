import FoundationEssentials
import Glibc

/// Encoded images in a directory, one file per key, shared by any number of threads and processes.
///
/// A file starts with the bytes that were stored, so any program can open it; the key, timestamps, a checksum and extended data
/// follow as a trailer. Writes are atomic, with a rename: a file is complete or missing. Writes are not flushed to the disk;
/// instead, every read of an image verifies key, length and checksum. A file that is not complete (torn by a power cut, truncated,
/// corrupted, or without a trailer) is removed and counts as a miss. A failed write throws no error: the entry is then missing, or
/// the previous one stays; see ``lastError`` and ``statistics``.
///
/// All methods work on the caller's thread and may block on the disk: do not call them on the main thread or on Swift's cooperative
/// threads; ``ImageCache`` has asynchronous methods.
public final class DiskCache: Sendable {
    /// The absolute path of the directory.
    public let path: String

    struct State {
        var config: ImageCacheConfig
        /// The directory handle of the last opening.
        var directory: DirectoryHandle? { didSet { checkedTick = nil } }
        /// The tick of the system's clock in which a read found that the path leads to the directory.
        var checkedTick: timespec?
        var lastError: SystemCallError?
        var statistics = DiskCacheStatistics()
        var eviction = RollingEviction()
        var jumps: ClockJumpGuard
    }

    let clock: ClockSource
    let calls: FileCalls
    let state: Lock<State>
    /// Stripes of locks: each serializes read-modify-write of its keys and is held while a file is written. The `Bool` values are
    /// unused: with zero-sized values, the thread sanitizer reports accesses to the memory behind them.
    let stripes = (0..<16).map { _ in Lock(false) }
    /// The walk for the size limit; held during a step.
    let scan = Lock<RunningScan?>(nil)
    /// The pass that ran out of time.
    let expiryPass = Lock<ExpiryPass?>(nil)

    /// Opens a cache directory and creates it if needed (with its parents, mode 0700). If that fails, the cache is empty and stores
    /// nothing; the same holds while the directory is a symbolic link, belongs to another user (other than root), or is writable by
    /// its group or by everybody. ``lastError`` contains the reason.
    public convenience init(path: String, config: ImageCacheConfig = .default) {
        self.init(path: path, config: config, clock: .system)
    }

    /// Opens a cache directory, with a custom clock.
    package convenience init(path: String, config: ImageCacheConfig, clock: ClockSource) {
        self.init(path: path, config: config, clock: clock, calls: .system, sweeps: true)
    }

    /// Opens a cache directory.
    ///
    /// - Parameter sweeps: true to remove the temporary files of dead writers now, which takes a walk through the directory.
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

    /// Removes the temporary files of dead writers, unless the directory is refused.
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

    /// The counts since this object was created.
    public var statistics: DiskCacheStatistics { state.withLock { $0.statistics } }

    /// The last system error, as one line; nil if there was none.
    public var lastError: WebImageError? {
        state.withLock { $0.lastError }.map {
            WebImageError(.fileAccessFailed, $0.description, underlyingError: $0)
        }
    }

    /// Returns the path of the file for the entry of `key`, whether it exists or not.
    public func cachePath(forKey key: String) -> String { path + "/" + CacheFileName(key: key).string }

    func stripe(of name: String) -> Lock<Bool> { stripes[Int(name.utf8.first?.hexValue ?? 0)] }

    func note(_ error: SystemCallError) { state.withLock { $0.lastError = error } }

    /// Now, in nanoseconds since 1970.
    func nowNanoseconds() -> Int64 { Int64(exactly: (clock.wallTime() * 1e9).rounded()) ?? 0 }

    // MARK: The directory

    // Names are resolved in the directory that was opened and checked, not along its path, so a change of the path in between
    // cannot redirect an access.

    /// Returns the directory if it is usable; otherwise records the error.
    func usableDirectory() -> DirectoryHandle? {
        do throws(SystemCallError) { return try existingDirectory() } catch {
            if !error.isAbsence { note(error) }
            return nil
        }
    }

    /// Returns the directory for a read, and whether its files are mapped; nil if it is not usable, after recording the error.
    ///
    /// The path is looked up once in each tick of the system's clock, which is at most 10 ms, because that takes as long as all else that a
    /// read does beside reading and verifying. So for that time entries can come from a directory that was moved away.
    func readableDirectory() -> (directory: DirectoryHandle, isMapped: Bool)? {
        var tick = timespec()
        clock_gettime(CLOCK_MONOTONIC_COARSE, &tick)
        let (held, checked, isMapped) = state.withLock { ($0.directory, $0.checkedTick, $0.config.mapsDiskData) }
        if let held, let checked, checked.tv_nsec == tick.tv_nsec, checked.tv_sec == tick.tv_sec {
            return (held, isMapped)
        }
        guard let directory = usableDirectory() else { return nil }
        state.withLock { if $0.directory === directory { $0.checkedTick = tick } }
        return (directory, isMapped)
    }

    /// Returns the directory. Opens it again if it was replaced, and creates it if it does not exist and `making` is true. Cost: an
    /// `lstat` of the path.
    func existingDirectory(making: Bool = false) throws(SystemCallError) -> DirectoryHandle {
        if let held = heldDirectory() { return held }
        do throws(SystemCallError) {
            let place = CacheDirectory(path: path)
            let handle = making ? try place.prepare() : try place.open()
            state.withLock { $0.directory = handle }
            if making { tag(handle) }
            return handle
        } catch {
            // The handle is closed so that it does not keep a file system from being unmounted.
            state.withLock { $0.directory = nil }
            throw error
        }
    }

    /// Creates and checks the directory; false if it is not usable.
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

    /// Returns the open directory if its path still leads to it, and if it is still safe.
    private func heldDirectory() -> DirectoryHandle? {
        guard let held = state.withLock({ $0.directory }) else { return nil }
        var status = stat()
        // An implicit conversion to a C string would copy the path.
        // The owner is compared because files of the same owner are read without asking for the user again.
        guard path.withCString({ lstat($0, &status) }) == 0, held.status.isSameFile(as: status),
            held.status.st_uid == status.st_uid, CacheDirectory.distrust(status) == nil
        else {
            return nil
        }
        return held
    }

    /// Writes the tag file. A failure is only recorded: the directory is usable without a tag.
    private func tag(_ directory: DirectoryHandle) {
        guard config.writesCacheDirectoryTag else { return }
        do throws(SystemCallError) { try CacheDirectory.writeTag(in: directory) } catch { note(error) }
    }
}
