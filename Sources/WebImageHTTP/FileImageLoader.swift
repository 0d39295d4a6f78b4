public import FoundationEssentials
import Glibc

/// Loads pictures of `file:` URLs, on threads of its own. Reads regular files only: never a pipe or a device, which
/// could hang or have no end.
public final class FileImageLoader: ImageLoading {
    /// A loader with the default limit.
    public static let shared = FileImageLoader()

    /// Most bytes of a file; a bigger one is ``WebImageError/Code/limitExceeded``, named `maximumFileByteCount`.
    public let maximumFileByteCount: Int
    private let queue: WorkQueue

    /// A loader.
    ///
    /// - Parameter maximumFileByteCount: 256 MiB by default.
    public convenience init(maximumFileByteCount: Int = 256 << 20) {
        self.init(maximumFileByteCount: maximumFileByteCount, queue: .fileReading)
    }

    init(maximumFileByteCount: Int, queue: WorkQueue) {
        // No file is longer, and there can be one byte more.
        self.maximumFileByteCount = min(maximumFileByteCount, .max - 1)
        self.queue = queue
    }

    /// Whether the scheme is file.
    public func canLoad(_ url: URL, options: WebImageOptions) -> Bool { url.scheme?.lowercased() == "file" }

    /// Reads the file; both closures are called on a reading thread. Progress comes when the size is known and at the end.
    public func load(
        _ request: ImageLoadRequest,
        progress: @escaping @Sendable (LoadProgress) -> Void,
        completion: @escaping @Sendable (Result<LoadedImageData, WebImageError>) -> Void
    ) -> any ImageLoaderOperation {
        let limit = maximumFileByteCount
        return LoadReceiver(url: request.url, progress: progress, completion: completion)
            .load(on: queue, priority: request.priority) { receiver throws(WebImageError) in
                try Self.read(request.url, limit: limit, for: receiver)
            }
    }

    /// Only a URL that is not of a file of this machine; a missing file may come.
    public func shouldBlockFailedURL(_ url: URL, error: WebImageError) -> Bool { error.code == .invalidURL }

    private static func read(_ url: URL, limit: Int, for receiver: LoadReceiver) throws(WebImageError) -> Data {
        let path = try path(of: url)
        // Without waiting: opening a pipe for reading would block until somebody writes.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { throw systemError(path, "cannot be opened") }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw systemError(path, "cannot be examined") }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw WebImageError(.fileAccessFailed, "\(path) is not a regular file")
        }
        let size = Int(status.st_size)
        guard size <= limit else { throw .limitExceeded("maximumFileByteCount", allowed: limit, required: size) }
        receiver.post(LoadProgress(receivedByteCount: 0, expectedByteCount: Int64(size)))
        guard let data = try readAll(descriptor, size: size, limit: limit, path: path, for: receiver) else {
            throw WebImageError(.badImageData, "the file is empty")
        }
        receiver.post(LoadProgress(receivedByteCount: Int64(data.count), expectedByteCount: Int64(data.count)))
        return data
    }

    private static func readAll(
        _ descriptor: Int32,
        size: Int,
        limit: Int,
        path: String,
        for receiver: LoadReceiver
    ) throws(WebImageError) -> Data? {
        var buffer = BodyBuffer(limit: limit + 1, sizedExactly: size + 1)
        while !receiver.isCancelled {
            // One byte more than is left, so that the end shows without another allocation. What has grown since is read on.
            let left = size + 1 - buffer.count
            let most = min(left > 0 ? left : 64 << 10, 4 << 20, limit + 1 - buffer.count)
            guard most > 0 else {
                throw .limitExceeded("maximumFileByteCount", allowed: limit, required: buffer.count)
            }
            let received = try buffer.fill(most: most) { Glibc.read(descriptor, $0, $1) }
            if received == 0 { return buffer.takeData() }
            if received < 0, errno != EINTR { throw systemError(path, "cannot be read") }
        }
        throw .cancelled()
    }

    private static func path(of url: URL) throws(WebImageError) -> String {
        let host = url.host() ?? ""
        guard host.isEmpty || host.lowercased() == "localhost" else {
            throw WebImageError(.invalidURL, "the file URL names another machine")
        }
        let path = url.path(percentEncoded: false)
        guard path.hasPrefix("/"), !path.utf8.contains(0) else {
            throw WebImageError(.invalidURL, "the file URL has no absolute path")
        }
        return path
    }

    private static func systemError(_ path: String, _ what: String) -> WebImageError {
        let code = errno
        let isMissing = code == ENOENT || code == ENOTDIR
        return WebImageError(
            isMissing ? .fileNotFound : .fileAccessFailed,
            isMissing ? "\(path) does not exist" : "\(path) \(what)",
            underlyingError: SystemError(number: code)
        )
    }
}

/// A failure of a system call.
public struct SystemError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The `errno`.
    public let number: Int32

    /// The system's words.
    public var description: String { String(cString: strerror(number)) }
}
