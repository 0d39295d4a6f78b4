import FoundationEssentials
import Glibc

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

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// The path of something in the directory.
    public func path(_ name: String) -> String { path + "/" + name }

    /// Not a forked child.
    private static let owner = getpid()

    /// The directory of this process, within that of the process that started it if that has one. It is in `/tmp`, or where
    /// `WEBIMAGE_TEST_DIRECTORY` says.
    private static let ofProcess: String = {
        let parentOfAll = getenv("WEBIMAGE_TEST_DIRECTORY").map { String(cString: $0) } ?? "/tmp"
        func path(of process: pid_t) -> String { "\(parentOfAll)/webimage-tests-\(process)" }
        let parent = path(of: getppid())
        var status = stat()
        let isStarted = lstat(parent, &status) == 0 && status.st_uid == geteuid() && status.st_mode & S_IFMT == S_IFDIR
        let own = isStarted ? "\(parent)/\(owner)" : path(of: owner)
        // Others may search it for their own files.
        mkdir(own, 0o711)
        atexit {
            if getpid() == TemporaryDirectory.owner {
                try? FileManager.default.removeItem(atPath: TemporaryDirectory.ofProcess)
            }
        }
        return own
    }()
}
