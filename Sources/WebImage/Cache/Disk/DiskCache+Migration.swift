import CLinux
import Glibc

extension DiskCache {
    /// Moves every file below `source`, but for those being written, to `destination`, flat, none over an existing one; then
    /// removes `source` with what remained. A destination within the source stays.
    static func mergeDirectory(_ source: String, into destination: String) {
        var target = stat()
        guard stat(destination, &target) == 0 else { return }
        var directories: [String] = []
        DirectoryScan(path: source).forEach { item in
            let path = source + "/" + item.string
            guard let status = item.status() else { return true }
            switch status.st_mode & S_IFMT {
            case S_IFDIR:
                let isTarget = status.st_dev == target.st_dev && status.st_ino == target.st_ino
                if !isTarget { directories.append(path) }
            case S_IFREG where !EntryWriter.isTemporaryName(item.name):
                moveFile(path, to: destination + "/" + item.string)
            default: break
            }
            return true
        }
        for directory in directories { mergeDirectory(directory, into: destination) }
        DirectoryScan(path: source).forEach { item in
            unlinkat(item.directory, item.cString, 0)
            return true
        }
        rmdir(source)
    }

    /// Moves a file to a name that is free; copies it when the two are on different file systems.
    private static func moveFile(_ source: String, to destination: String) {
        guard webimage_rename(source, destination, true) == -EXDEV else { return }
        guard let entry = readWhole(source) else { return }
        let file = open(destination, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { return }
        let empty = UnsafeRawBufferPointer(start: nil, count: 0)
        let isWritten = (try? FileCalls.system.writeFully(file, entry.block.bytes, empty, path: destination)) != nil
        futimens(file, [entry.status.st_atim, entry.status.st_mtim])
        if close(file) != 0 || !isWritten { unlink(destination) }
    }

    private static func readWhole(_ path: String) -> (block: FileBlock, status: stat)? {
        let reader = EntryReader(calls: .system)
        guard let (file, status) = try? reader.open(path) else { return nil }
        defer { close(file) }
        guard
            let block = try? FileBlock.load(
                file,
                size: Int(status.st_size),
                mapped: true,
                calls: .system,
                path: path
            )
        else { return nil }
        return (block, status)
    }
}
