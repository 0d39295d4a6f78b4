import FoundationEssentials
import Glibc
import WebImageSupport

/// A directory that is removed with everything in it when the object is released.
///
/// Files written there afterwards, by a cache that still stores, are removed when the process ends, and with them the
/// files of the programs that it ran, which may have been killed.
public final class TemporaryDirectory: Sendable {
    /// Its absolute path, without a slash at the end.
    public let path: String

    /// Creates a new, empty directory of mode 0700 below another: one of this process in the system's temporary
    /// directory by default.
    public init(in parent: String? = nil) {
        var template = Array("\(parent ?? Self.ofProcess)/webimage-test-XXXXXX".utf8CString)
        path = template.withUnsafeMutableBufferPointer { buffer in
            mkdtemp(buffer.baseAddress!)
            return String(cString: buffer.baseAddress!)
        }
    }

    /// Creates a directory in memory, if there is room for a gigabyte: for tests that create and remove thousands of files, which takes a
    /// disk ten times as long.
    public static func inMemory() -> TemporaryDirectory { TemporaryDirectory(in: directory(in: memory)) }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// The path of something in the directory.
    public func path(_ name: String) -> String { path + "/" + name }

    /// Not a forked child.
    private static let owner = getpid()

    /// The directory of this process: in `/tmp`, or in memory if `WEBIMAGE_TEST_IN_MEMORY` is set and there is room.
    private static let ofProcess = directory(in: getenv("WEBIMAGE_TEST_IN_MEMORY") == nil ? "/tmp" : memory)

    private static let memory: String = {
        var system = statvfs()
        let hasRoom = statvfs("/dev/shm", &system) == 0 && system.f_bavail >= 1 << 30 / max(system.f_frsize, 1)
        return hasRoom ? "/dev/shm" : "/tmp"
    }()

    /// Those of this process that exist.
    private static let known = Lock<Set<String>>([])

    /// Returns the directory of this process in another, within that of the process that started it if that has one.
    private static func directory(in parentOfAll: String) -> String {
        func path(of process: pid_t) -> String { "\(parentOfAll)/webimage-tests-\(process)" }
        let parent = path(of: getppid())
        var status = stat()
        let isStarted = lstat(parent, &status) == 0 && status.st_uid == geteuid() && status.st_mode & S_IFMT == S_IFDIR
        let own = isStarted ? "\(parent)/\(owner)" : path(of: owner)
        guard known.withLock({ $0.insert(own).inserted }) else { return own }
        // Others may search it for their own files.
        mkdir(own, 0o711)
        atexit {
            guard getpid() == TemporaryDirectory.owner else { return }
            for path in TemporaryDirectory.known.withLock({ $0 }) { try? FileManager.default.removeItem(atPath: path) }
        }
        return own
    }
}
