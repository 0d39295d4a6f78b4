import Glibc

/// Makes and checks the directory of a cache.
struct CacheDirectory: Sendable {
    static let tagName = "CACHEDIR.TAG"
    private static let tag = """
        Signature: 8a477f597d28d172789f06886806bc55
        # This directory holds a cache of WebImage. It can be made again; leave it out of backups.
        # See https://bford.info/cachedir/

        """

    let path: String

    /// Makes the directory with its parents, mode 0700, as far as they do not exist, and puts the tag into it.
    ///
    /// Refuses a directory that everybody may write to, or that belongs to another user (except root's): what is in it
    /// could come from anybody.
    func prepare(writingTag: Bool) throws(SystemCallError) {
        var status = stat()
        if stat(path, &status) != 0 {
            guard errno == ENOENT else { throw SystemCallError(call: "stat", path: path, number: errno) }
            try Self.makeDirectories(path)
            guard stat(path, &status) == 0 else { throw SystemCallError(call: "stat", path: path, number: errno) }
        }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            throw SystemCallError(call: "open", path: path, number: ENOTDIR)
        }
        let user = geteuid()
        let isTrusted = status.st_uid == user || status.st_uid == 0 || user == 0
        guard isTrusted, status.st_mode & S_IWOTH == 0 else {
            throw SystemCallError(call: "trust", path: path, number: EPERM)
        }
        if writingTag { try writeTag() }
    }

    private func writeTag() throws(SystemCallError) {
        let tagPath = path + "/" + Self.tagName
        let file = open(tagPath, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else {
            if errno == EEXIST { return }
            throw SystemCallError(call: "open", path: tagPath, number: errno)
        }
        defer { close(file) }
        let written = Self.tag.utf8.withContiguousStorageIfAvailable { write(file, $0.baseAddress, $0.count) }
        guard let written, written == Self.tag.utf8.count else {
            unlink(tagPath)
            throw SystemCallError(call: "write", path: tagPath, number: ENOSPC)
        }
    }

    /// Makes a directory with its parents, mode 0700. An existing one is fine.
    static func makeDirectories(_ path: String) throws(SystemCallError) {
        if mkdir(path, 0o700) == 0 || errno == EEXIST { return }
        let number = errno
        guard number == ENOENT, let slash = path.dropLast().lastIndex(of: "/"), slash != path.startIndex else {
            throw SystemCallError(call: "mkdir", path: path, number: number)
        }
        try makeDirectories(String(path[..<slash]))
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
            throw SystemCallError(call: "mkdir", path: path, number: errno)
        }
    }

    /// `path` from the root, without a slash at the end.
    static func absolute(_ path: String) -> String {
        var path = path
        if !path.hasPrefix("/") {
            var buffer = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
            if getcwd(&buffer, buffer.count) != nil {
                path =
                    String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self) + "/" + path
            }
        }
        while path.utf8.count > 1, path.hasSuffix("/") { path.removeLast() }
        return path
    }
}
