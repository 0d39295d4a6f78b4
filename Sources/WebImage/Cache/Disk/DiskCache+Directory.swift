import Glibc

/// The directory that a cache works in. Names are looked for in the directory that was opened and checked, not along its path, so
/// nobody who changes the path in between leads anything elsewhere.
extension DiskCache {
    /// The directory, if there is one that can be used; what keeps it from that is noted.
    func usableDirectory() -> DirectoryHandle? {
        do throws(SystemCallError) { return try existingDirectory() } catch {
            if !error.isAbsence { note(error) }
            return nil
        }
    }

    /// The directory, opened anew when another one has its place. Cost: a look at the path.
    ///
    /// - Parameter making: whether it is made if it does not exist.
    func existingDirectory(making: Bool = false) throws(SystemCallError) -> DirectoryHandle {
        if let held = heldDirectory() { return held }
        do throws(SystemCallError) {
            let place = CacheDirectory(path: path)
            let handle = making ? try place.prepare() : try place.open()
            state.withLock { $0.directory = handle }
            if making { tag(handle) }
            return handle
        } catch {
            // It is closed, so that it does not keep a file system that somebody wants to be gone.
            state.withLock { $0.directory = nil }
            throw error
        }
    }

    /// Makes and checks the directory; false when it cannot be used.
    @discardableResult
    func prepareDirectory() -> Bool {
        do throws(SystemCallError) {
            tag(try existingDirectory(making: true))
            return true
        } catch {
            note(error)
            return false
        }
    }

    func scanning(_ directory: DirectoryHandle) -> DirectoryScan {
        DirectoryScan(path: path, calls: calls, directory: directory)
    }

    /// The directory that is open, if it is still what the path leads to, and still safe.
    private func heldDirectory() -> DirectoryHandle? {
        guard let held = state.withLock({ $0.directory }) else { return nil }
        var status = stat()
        // An implicit conversion to a C string would copy the path.
        guard path.withCString({ lstat($0, &status) }) == 0, held.isSame(as: status),
            CacheDirectory.distrust(status) == nil
        else {
            return nil
        }
        return held
    }

    /// A directory without a tag serves as well.
    private func tag(_ directory: DirectoryHandle) {
        guard config.writesCacheDirectoryTag else { return }
        do throws(SystemCallError) { try CacheDirectory.writeTag(in: directory) } catch { note(error) }
    }
}
