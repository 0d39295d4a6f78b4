import FoundationEssentials
package import Glibc
package import TestSupport
package import WebImageCache

/// Sets access and modification time of a file.
package func setTimes(_ path: String, accessed: Double, modified: Double) {
    utimensat(AT_FDCWD, path, [timespec(seconds: accessed), timespec(seconds: modified)], AT_SYMLINK_NOFOLLOW)
}

package func setTimes(_ path: String, _ time: Double) { setTimes(path, accessed: time, modified: time) }

/// Returns whether the path exists, without following symbolic links.
package func exists(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0
}

/// The file's status; all zero if it does not exist.
package func fileStatus(_ path: String) -> stat {
    var status = stat()
    lstat(path, &status)
    return status
}

package func readBytes(_ path: String) -> [UInt8] {
    (try? Data(contentsOf: URL(filePath: path))).map { [UInt8]($0) } ?? []
}

/// Writes a file in place, without a rename.
package func writeBytes(_ bytes: [UInt8], _ path: String) {
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    _ = bytes.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
    close(file)
}

/// Names in a directory, sorted.
package func names(in path: String) -> [String] {
    var names: [String] = []
    DirectoryScan(path: path).forEach { item in
        names.append(item.string)
        return true
    }
    return names.sorted()
}

extension DiskCache {
    /// A cache in a directory, with a clock of the test.
    package static func make(
        _ directory: TemporaryDirectory,
        clock: ManualClock = ManualClock(),
        calls: FileCalls = .system,
        _ change: (inout ImageCacheConfig) -> Void = { _ in }
    ) -> DiskCache {
        var config = ImageCacheConfig()
        change(&config)
        return DiskCache(path: directory.path("cache"), config: config, clock: clock.source, calls: calls)
    }
}
