import Glibc

/// Creates, opens and checks the directory of a cache.
package struct CacheDirectory: Sendable {
    static let tagName = "CACHEDIR.TAG"
    private static let tag = """
        Signature: 8a477f597d28d172789f06886806bc55
        # This directory holds a cache of WebImage. It can be made again; leave it out of backups.
        # See https://bford.info/cachedir/

        """

    let path: String

    package init(path: String) { self.path = path }

    /// Opens the directory. Creates it and its parents, mode 0700, if they do not exist.
    func prepare() throws(SystemCallError) -> DirectoryHandle {
        do throws(SystemCallError) { return try open() } catch {
            guard error.number == ENOENT else { throw error }
        }
        try Self.makeDirectories(path)
        return try open()
    }

    /// Opens the directory, unless other users could have placed files in it; see ``distrust(_:user:)``. The mode of an existing
    /// directory is never changed: it may contain other files, too.
    package func open() throws(SystemCallError) -> DirectoryHandle {
        let handle: DirectoryHandle
        do throws(SystemCallError) { handle = try DirectoryHandle(opening: path) } catch {
            guard error.number == ENOTDIR, Self.isLink(path) else { throw error }
            throw SystemCallError(call: "open", path: path, number: ENOTDIR, refusal: "it is a symbolic link")
        }
        guard let reason = Self.distrust(handle.status) else { return handle }
        throw SystemCallError(call: "open", path: path, number: EPERM, refusal: reason)
    }

    /// Returns the reason why a directory in this state is refused: other users could place files in it. Nil if it is used. Root is
    /// trusted.
    static func distrust(_ status: stat, user: @autoclosure () -> uid_t = geteuid()) -> String? {
        guard status.st_mode & S_IFMT == S_IFDIR else { return "it is not a directory" }
        guard status.st_uid == 0 || status.st_uid == user() else { return "it belongs to another user" }
        if status.st_mode & S_IWOTH != 0 { return "it is writable by everybody" }
        return status.st_mode & S_IWGRP != 0 ? "it is writable by its group" : nil
    }

    private static func isLink(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
    }

    /// Writes the tag file into the directory, if it is missing.
    static func writeTag(in directory: DirectoryHandle) throws(SystemCallError) {
        let path = directory.path(of: tagName)
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW
        let file = openat(directory.descriptor, tagName, flags, 0o600)
        guard file >= 0 else {
            if errno == EEXIST { return }
            throw SystemCallError(call: "open", path: path, number: errno)
        }
        let written = tag.utf8.withContiguousStorageIfAvailable { write(file, $0.baseAddress, $0.count) }
        let isClosed = close(file) == 0
        guard let written, written == tag.utf8.count, isClosed else {
            directory.remove(tagName)
            throw SystemCallError(call: "write", path: path, number: ENOSPC)
        }
    }

    /// Creates a directory with its parents, mode 0700. An existing one is fine.
    package static func makeDirectories(_ path: String) throws(SystemCallError) {
        if mkdir(path, 0o700) == 0 || errno == EEXIST { return }
        var number = errno
        if number == ENOENT, let slash = path.dropLast().lastIndex(of: "/"), slash != path.startIndex {
            try makeDirectories(String(path[..<slash]))
            if mkdir(path, 0o700) == 0 || errno == EEXIST { return }
            number = errno
        }
        throw SystemCallError(call: "mkdir", path: path, number: number)
    }

    /// Returns `path` as an absolute path, without a trailing slash.
    package static func absolute(_ path: String) -> String {
        var path = path
        if !path.hasPrefix("/"), let current = getcwd(nil, 0) {
            path = String(cString: current) + "/" + path
            free(current)
        }
        while path.utf8.count > 1, path.hasSuffix("/") { path.removeLast() }
        return path
    }
}
