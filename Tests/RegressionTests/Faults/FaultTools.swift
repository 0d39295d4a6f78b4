import FoundationEssentials
import Glibc
import TestSupport
import Testing
import WebImage

/// A file system mounted by a test, and unmounted with the object.
final class MountedDisk {
    /// The mount point.
    let path: String

    /// A Boolean value that indicates whether this user may mount at all: tried with a small one.
    static let isPermitted: Bool = {
        guard geteuid() == 0 else { return false }
        let directory = TemporaryDirectory()
        return MountedDisk(at: directory.path("mount"), type: "tmpfs", options: "size=64k") != nil
    }()

    /// A Boolean value that indicates whether files can be mounted as disks.
    static let isPermittedForImages: Bool = {
        guard isPermitted else { return false }
        let directory = TemporaryDirectory()
        return DiskImage(in: directory)?.mount() != nil
    }()

    /// Creates the directory and mounts; nil on failure.
    init?(at path: String, type: String, options: String, device: String = "none") {
        self.path = path
        mkdir(path, 0o700)
        guard Self.run("/bin/mount", ["-t", type, "-o", options, device, path]) else {
            isMounted = false
            return nil
        }
        if type == "tmpfs" || type == "ramfs" { chmod(path, 0o700) }
    }

    deinit { if isMounted { Self.run("/bin/umount", ["-l", path]) } }

    private var isMounted = true

    /// Unmounts now; false while files in it are open.
    func unmount() -> Bool {
        isMounted = !Self.run("/bin/umount", [path])
        return !isMounted
    }

    /// Changes the options.
    @discardableResult
    func remount(_ options: String) -> Bool { Self.run("/bin/mount", ["-o", "remount," + options, path]) }

    /// Runs a program to its end; returns whether it succeeded. Its output is discarded. It blocks the thread, as
    /// conditions of tests, `defer` and `deinit` must, and is for programs that take no time.
    @discardableResult
    static func run(_ program: String, _ arguments: [String]) -> Bool {
        (try? ProgramRun(program, arguments))?.status == 0
    }
}

/// A disk in a file, with ext4 on it.
final class DiskImage {
    let path: String
    private let directory: TemporaryDirectory

    /// Creates a disk of this many MiB; nil on failure.
    init?(in directory: TemporaryDirectory, size: Int = 8) {
        self.directory = directory
        path = directory.path("disk.img")
        let file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard file >= 0, ftruncate(file, off_t(size << 20)) == 0 else { return nil }
        close(file)
        guard MountedDisk.run("/usr/bin/env", ["PATH=/usr/sbin:/sbin:/usr/bin:/bin", "mkfs.ext4", "-q", "-F", path])
        else {
            return nil
        }
    }

    /// Mounts it.
    func mount() -> MountedDisk? {
        MountedDisk(at: directory.path("mount"), type: "ext4", options: "loop,commit=300", device: path)
    }
}

/// A directory in memory if there is a file system for that, where thousands of files are created and removed quickly.
final class MemoryDirectory: Sendable {
    private let fallback = TemporaryDirectory()
    let path: String

    init() {
        let shared = "/dev/shm/webimage-faults-\(getpid())-\(UInt32.random(in: .min ... .max))"
        path = mkdir(shared, 0o700) == 0 ? shared : fallback.path
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}

/// The program that works on a cache while its disk fails.
struct FaultHelper {
    /// Runs it with the fault library; every line that begins with FAILED is an issue.
    ///
    /// - Returns: Its lines.
    @discardableResult
    static func run(
        _ arguments: [String],
        plan: FaultPlan? = nil,
        directory: String = "",
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> ProgramRun {
        let run = try await valueOnThread {
            // Made with the first call.
            var environment = ["LD_PRELOAD": try FaultLibrary.path()]
            if let plan { environment = try plan.environment(directory: directory) }
            return try ProgramRun(
                ProgramRun.product("test-program"),
                ["disk-faults"] + arguments,
                environment: environment
            )
        }
        for line in run.lines where line.hasPrefix("FAILED") {
            Issue.record("\(line)", sourceLocation: sourceLocation)
        }
        return run
    }

    /// The distance between the disturbed calls; every one of them with `WEBIMAGE_EVERY_CALL`.
    static func stride(_ usual: Int) -> Int { getenv("WEBIMAGE_EVERY_CALL") == nil ? usual : 1 }
}

extension DiskCache {
    /// Returns whether every readable entry equals what was stored.
    func isWhole(_ numbers: Range<Int>) -> Bool {
        numbers.allSatisfy { number in
            data(forKey: HammerImage.key(number)).map { HammerImage.isWhole($0, number: number) } ?? true
        }
    }
}
