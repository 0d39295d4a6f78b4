import CLinux
import Glibc

/// An open directory, in which names are looked up; closed with the last reference.
///
/// Names are resolved in this very directory, whatever happens to the path by which it was opened.
package final class DirectoryHandle: Sendable {
    /// The path by which it was opened; for messages.
    let path: String
    let descriptor: Int32
    let status: stat

    /// Opens a directory by its path, or by its name in `parent`. Refuses a symbolic link in the last component with ENOTDIR.
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

    /// Returns the path of a file in the directory, for messages.
    func path(of name: String) -> String { path + "/" + name }

    /// Returns the state of a name in the directory, without following symbolic links; nil if it does not exist.
    func status(of name: String) -> stat? {
        var status = stat()
        return name.withCString { fstatat(descriptor, $0, &status, AT_SYMLINK_NOFOLLOW) } == 0 ? status : nil
    }

    /// Removes a file. Returns 0 or the error number.
    @discardableResult
    func remove(_ name: String) -> Int32 { name.withCString { unlinkat(descriptor, $0, 0) } == 0 ? 0 : errno }
}
