import CMicrohttpd
import FoundationEssentials
import Glibc
import WebImage

/// The files below a directory, for sources such as `local:///photos/a.jpg`.
///
/// The kernel resolves each path within the directory (`openat2` with `RESOLVE_BENEATH`): neither `..` nor a symbolic link leads out of it.
final class LocalFiles: Sendable {
    /// The scheme of such sources, as in imgproxy.
    static let scheme = "local"

    private let root: Int32
    private let maximumByteCount: Int
    private let queue = WorkQueue(name: "webimage-files", width: 4)

    /// - Throws: ``ServerStartError`` if the directory cannot be opened, or if the kernel is older than 5.6.
    init(root path: String, maximumByteCount: Int) throws(ServerStartError) {
        self.maximumByteCount = maximumByteCount
        root = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard root >= 0 else { throw ServerStartError("\(path): \(String(cString: strerror(errno)))") }
        let own = webimage_http_open_beneath(root, ".")
        guard own >= 0 else {
            throw ServerStartError("--root needs openat2 (Linux 5.6): \(String(cString: strerror(errno)))")
        }
        close(own)
    }

    deinit { close(root) }

    /// A loader of the files.
    var loader: any ImageLoading {
        ClosureImageLoader(scheme: Self.scheme) { [self] request in
            try await queue.run { [self] () throws(WebImageError) in try read(request.url) }
        }
    }

    private func read(_ url: URL) throws(WebImageError) -> Data {
        let path = url.path(percentEncoded: false)
        guard url.host()?.isEmpty ?? true, path.hasPrefix("/"), !path.utf8.contains(0) else {
            throw WebImageError(.invalidURL, "local sources are local:///PATH", url: url)
        }
        let relative = path.drop { $0 == "/" }
        let descriptor = webimage_http_open_beneath(root, relative.isEmpty ? "." : String(relative))
        guard descriptor >= 0 else {
            throw WebImageError(.fileAccessFailed, String(cString: strerror(errno)), url: url)
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw WebImageError(.fileAccessFailed, "it is not a regular file", url: url)
        }
        let size = Int(status.st_size)
        guard size <= maximumByteCount else {
            throw .limitExceeded("maximumByteCount", allowed: maximumByteCount, required: size)
        }
        // A file that grows meanwhile is read to its former end.
        var bytes = [UInt8](repeating: 0, count: size)
        var count = 0
        while count < size {
            let received = bytes.withUnsafeMutableBytes { buffer in
                Glibc.read(descriptor, buffer.baseAddress.map { $0 + count }, size - count)
            }
            if received < 0, errno == EINTR { continue }
            guard received > 0 else { break }
            count += received
        }
        guard count > 0 else { throw WebImageError(.badImageData, "the file is empty", url: url) }
        return Data(bytes.prefix(count))
    }
}
