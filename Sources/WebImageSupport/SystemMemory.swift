import Glibc

/// The amount of memory that this process may use, from `/proc` and the control groups below `/sys/fs/cgroup`.
package struct SystemMemory {
    /// The directory that contains `proc` and `sys`: empty for the real ones.
    package var root = ""

    /// - Parameter root: empty for the real files.
    package init(root: String = "") { self.root = root }

    /// The smaller of the machine's memory and the control group's limit; nil if neither is known.
    package var usableBytes: Int? {
        [physicalBytes, controlGroupLimit].compactMap(\.self).min()
    }

    /// The machine's memory.
    package var physicalBytes: Int? { meminfo("MemTotal:") }

    /// The memory that the machine could give to processes without swapping; nil if not known.
    package var availableBytes: Int? { meminfo("MemAvailable:") }

    private func meminfo(_ name: String) -> Int? {
        guard let text = SmallFile.read(root + "/proc/meminfo") else { return nil }
        for line in text.split(separator: "\n") where line.hasPrefix(name) {
            let words = line.split(whereSeparator: { $0 == " " || $0 == "\t" })
            guard words.count >= 2, let kibibytes = Int(words[1]), kibibytes > 0 else { return nil }
            let (bytes, overflow) = kibibytes.multipliedReportingOverflow(by: 1024)
            return overflow ? nil : bytes
        }
        return nil
    }

    /// The lowest limit of the process's control group and its ancestors; nil if none of them sets a limit.
    package var controlGroupLimit: Int? {
        controlGroups.flatMap { group in group.limitFiles.compactMap { limit(in: group.path + "/" + $0) } }.min()
    }

    /// The memory pressure file of the process's control group, if a limit is set there.
    package var controlGroupPressurePath: String? {
        controlGroups.first { group in
            group.limitFiles.contains { limit(in: group.path + "/" + $0) != nil }
                && SmallFile.read(group.path + "/memory.pressure") != nil
        }.map { $0.path + "/memory.pressure" }
    }

    private struct Group {
        var path: String
        var limitFiles: [String]
    }

    /// The process's groups in both kinds of hierarchy, each followed by its ancestors.
    private var controlGroups: [Group] {
        guard let text = SmallFile.read(root + "/proc/self/cgroup") else { return [] }
        let mount = root + "/sys/fs/cgroup"
        return text.split(separator: "\n").prefix(64).flatMap { line -> [Group] in
            // hierarchy-ID:controllers:path
            let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard fields.count == 3 else { return [] }
            if fields[1].isEmpty {
                return [mount, mount + "/unified"].flatMap {
                    ancestors(of: fields[2], below: $0, files: ["memory.max", "memory.high"])
                }
            }
            guard fields[1].split(separator: ",").contains("memory") else { return [] }
            return ancestors(of: fields[2], below: mount + "/memory", files: ["memory.limit_in_bytes"])
        }
    }

    private func ancestors(of path: Substring, below mount: String, files: [String]) -> [Group] {
        // A group outside of the process's namespace is written with "..", and cannot be accessed.
        var parts = path.split(separator: "/").filter { $0 != ".." && $0 != "." }.prefix(64)
        var groups: [Group] = []
        while true {
            groups.append(Group(path: ([mount] + parts.map(String.init)).joined(separator: "/"), limitFiles: files))
            if parts.popLast() == nil { return groups }
        }
    }

    private func limit(in path: String) -> Int? {
        guard let text = SmallFile.read(path)?.split(whereSeparator: { $0.isWhitespace }).first else { return nil }
        // Version 1 writes the biggest number of pages for "no limit".
        guard let bytes = Int(text), bytes > 0, bytes < 1 << 60 else { return nil }
        return bytes
    }
}

/// Reads small kernel files.
package enum SmallFile {
    /// Returns the file's first 64 KiB as text; nil if it cannot be read.
    package static func read(_ path: String) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        var length = 0
        while length < bytes.count {
            let count = bytes.withUnsafeMutableBytes { buffer in
                Glibc.read(descriptor, buffer.baseAddress.map { $0 + length }, buffer.count - length)
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return nil }
            if count == 0 { break }
            length += count
        }
        return String(decoding: bytes[..<length], as: UTF8.self)
    }
}
