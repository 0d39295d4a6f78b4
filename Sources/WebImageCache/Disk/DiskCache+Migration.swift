import CLinux
import Glibc

extension DiskCache {
    /// The maximum depth of subdirectories that are searched when entries are moved.
    private static let deepestLevel = 32

    /// Moves a cache directory, for example to a new location of the program's caches.
    ///
    /// If there is no directory at the destination (a plain file there is removed), the source is renamed, and missing parents are
    /// created. Otherwise, its files and those of its subdirectories are moved into the destination, except those that exist there,
    /// and the source is removed, unless it contains the destination or a file that could not be moved. Has no effect if both are
    /// the same, if the source is not a directory, or if either path ends in a symbolic link; links in the source are not followed.
    /// Blocks; errors are ignored.
    ///
    /// - Parameter writesTag: true, the default, to write `CACHEDIR.TAG` into the destination.
    public static func moveDirectory(from source: String, to destination: String, writesTag: Bool = true) {
        let source = CacheDirectory.absolute(source)
        let destination = CacheDirectory.absolute(destination)
        guard source != destination, let from = try? DirectoryHandle(opening: source) else { return }
        var to = stat()
        let destinationExists = lstat(destination, &to) == 0
        if destinationExists, to.st_mode & S_IFMT == S_IFDIR {
            guard !from.status.isSameFile(as: to), let into = try? DirectoryHandle(opening: destination) else { return }
            merge(from, into: into)
            rmdir(source)
        } else {
            guard !destinationExists || to.st_mode & S_IFMT == S_IFREG else { return }
            if destinationExists { unlink(destination) }
            rename(from, to: destination)
        }
        if writesTag, let made = try? CacheDirectory(path: destination).open() {
            try? CacheDirectory.writeTag(in: made)
        }
    }

    /// Renames a directory to an unused path; across file systems, or into itself, by moving its entries.
    private static func rename(_ source: DirectoryHandle, to destination: String) {
        if let slash = destination.lastIndex(of: "/"), slash != destination.startIndex {
            try? CacheDirectory.makeDirectories(String(destination[..<slash]))
        }
        let result = webimage_rename(AT_FDCWD, source.path, AT_FDCWD, destination, false)
        guard result == -EXDEV || result == -EINVAL else { return }
        try? CacheDirectory.makeDirectories(destination)
        guard let into = try? DirectoryHandle(opening: destination) else { return }
        merge(source, into: into)
        rmdir(source.path)
    }

    /// Moves all files in `source` and its subdirectories, except temporary ones, to `destination`, flat, without overwriting; then
    /// removes the rest, except files that could not be moved. Between file systems, files are copied. A destination inside the
    /// source stays.
    private static func merge(_ source: DirectoryHandle, into destination: DirectoryHandle, level: Int = 0) {
        var directories: [String] = []
        let scan = DirectoryScan(path: source.path, directory: source)
        scan.forEach { item in
            guard let status = item.status() else { return true }
            switch status.st_mode & S_IFMT {
            case S_IFDIR: if !destination.status.isSameFile(as: status) { directories.append(item.string) }
            case S_IFREG where !EntryWriter.isTemporaryName(item.name):
                let (from, to) = (source.descriptor, destination.descriptor)
                if webimage_rename(from, item.cString, to, item.cString, true) == -EXDEV {
                    try? EntryWriter(directory: destination, calls: .system).copy(item.string, from: source)
                }
            default: break
            }
            return true
        }
        for name in directories where level < deepestLevel {
            guard let inner = try? DirectoryHandle(opening: name, in: source) else { continue }
            merge(inner, into: destination, level: level + 1)
            unlinkat(source.descriptor, name, AT_REMOVEDIR)
        }
        scan.forEach { item in
            // A file that could not be moved stays, unless the destination has one of that name.
            if let status = item.status(), status.st_mode & S_IFMT == S_IFREG,
                !EntryWriter.isTemporaryName(item.name), destination.status(of: item.string) == nil
            {
                return true
            }
            unlinkat(item.directory, item.cString, 0)
            return true
        }
    }
}
