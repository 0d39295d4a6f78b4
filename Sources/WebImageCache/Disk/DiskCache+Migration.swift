import CLinux
import Glibc

extension DiskCache {
    /// Directories within directories that are looked into when entries are moved.
    private static let deepestLevel = 32

    /// Moves a cache directory, for example to a new place of the program's caches.
    ///
    /// Without a directory at the destination (a plain file there is removed) it is renamed, missing parents are made. Else
    /// its entries are moved into the destination, except those that exist there, and the source is removed with what
    /// remained (but for the destination, if that lies in it). Nothing happens when both are the same, when the source is no
    /// directory, or when either path ends in a symbolic link; links in the source are removed and not followed.
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

    /// Gives a directory a path that is free; across file systems, or into itself, by moving its entries.
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

    /// Moves every file in `source` and below, but for those being written, to `destination`, flat, none over an existing one;
    /// then removes what remained. Files are copied between file systems. A destination within the source stays.
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
            // What could not be moved stays, unless the destination has one of that name.
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
