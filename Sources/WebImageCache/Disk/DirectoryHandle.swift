import CLinux
import Glibc

/// A directory that is open, as a place to find names in; closed when nobody holds it any more.
///
/// Whatever happens to the path it was opened by, names are looked for in this very directory.
package final class DirectoryHandle: Sendable {
    /// As it was opened; for messages.
    let path: String
    let descriptor: Int32
    let status: stat

    /// Opens a directory by its path, or by its name in `parent`. Refuses a symbolic link in the last part with ENOTDIR.
    init(opening name: String, in parent: DirectoryHandle? = nil) throws(SystemCallError) {
        path = parent.map { $0.path + "/" + name } ?? name
        descriptor = webimage_open_directory(parent?.descriptor ?? AT_FDCWD, name)
        guard descriptor >= 0 else { throw SystemCallError(call: "open", path: path, number: -descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            let number = errno
            close(descriptor)
            throw SystemCallError(call: "fstat", path: path, number: number)
        }
        self.status = status
    }

    deinit { close(descriptor) }

    /// The path of something in it, for messages.
    func path(of name: String) -> String { path + "/" + name }

    /// The state of what it has under a name, symbolic links not followed; nil when there is nothing.
    func status(of name: String) -> stat? {
        var status = stat()
        return name.withCString { fstatat(descriptor, $0, &status, AT_SYMLINK_NOFOLLOW) } == 0 ? status : nil
    }

    /// Removes a file. 0, or the error number.
    @discardableResult
    func remove(_ name: String) -> Int32 { name.withCString { unlinkat(descriptor, $0, 0) } == 0 ? 0 : errno }
}
