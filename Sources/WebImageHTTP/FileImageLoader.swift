public import FoundationEssentials
import Glibc

/// Loads images from `file:` URLs, on dedicated threads. Reads only regular files: a pipe or a device could hang or have no end. For loads of images,
/// videos (by their extension and first bytes) are not read as a whole: their decoder reads the parts that it needs from the open file.
public final class FileImageLoader: ImageLoading {
    /// A loader with the default limit.
    public static let shared = FileImageLoader()

    /// The maximum number of bytes of a file, except videos. A bigger one fails with ``WebImageError/Code/limitExceeded``, named
    /// `maximumFileByteCount`.
    package let maximumFileByteCount: Int
    private let queue: WorkQueue

    /// Creates a loader.
    ///
    /// - Parameter maximumFileByteCount: 256 MiB by default.
    public convenience init(maximumFileByteCount: Int = 256 << 20) {
        self.init(maximumFileByteCount: maximumFileByteCount, queue: .fileReading)
    }

    init(maximumFileByteCount: Int, queue: WorkQueue) {
        // No file is longer, and the limit plus one byte must not overflow.
        self.maximumFileByteCount = min(maximumFileByteCount, .max - 1)
        self.queue = queue
    }

    /// Returns a Boolean value that indicates whether the scheme is `file`.
    public func canLoad(_ url: URL, options: WebImageOptions) -> Bool { url.scheme?.lowercased() == "file" }

    /// Reads the file; both closures are called on a reading thread. Progress is reported when the size is known and at the end.
    public func load(
        _ request: ImageLoadRequest,
        progress: @escaping @Sendable (LoadProgress) -> Void,
        completion: @escaping @Sendable (Result<LoadedImageData, WebImageError>) -> Void
    ) -> any ImageLoaderOperation {
        let (limit, readsParts) = (maximumFileByteCount, request.readsParts)
        return LoadReceiver(url: request.url, progress: progress, completion: completion)
            .load(on: queue, priority: request.priority) { receiver throws(WebImageError) in
                try Self.read(request.url, limit: limit, readsParts: readsParts, for: receiver)
            }
    }

    /// Reads a file on the calling thread, with the same limit and errors.
    ///
    /// - Parameter readsParts: True if a video is opened and not read.
    package func read(_ url: URL, readsParts: Bool) throws(WebImageError) -> LoadedImageData {
        do throws(WebImageError) {
            return try Self.read(url, limit: maximumFileByteCount, readsParts: readsParts, for: nil)
        } catch {
            throw error.with(url: url)
        }
    }

    /// Blocks only URLs that do not name a file of this machine; a missing file may be created later.
    public func shouldBlockFailedURL(_ url: URL, error: WebImageError) -> Bool { error.code == .invalidURL }

    private static func read(
        _ url: URL,
        limit: Int,
        readsParts: Bool,
        for receiver: LoadReceiver?
    ) throws(WebImageError) -> LoadedImageData {
        let path = try path(of: url)
        // Non-blocking: opening a pipe for reading would block until it has a writer.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { throw systemError(path, "cannot be opened") }
        var closes = true
        defer { if closes { close(descriptor) } }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw systemError(path, "cannot be examined") }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw WebImageError(.fileAccessFailed, "\(path) is not a regular file")
        }
        let size = Int(status.st_size)
        if readsParts, let video = FileByteSource(adoptingVideo: descriptor, path: path, size: size) {
            closes = false
            return LoadedImageData(byteSource: video)
        }
        guard size <= limit else { throw .limitExceeded("maximumFileByteCount", allowed: limit, required: size) }
        receiver?.post(LoadProgress(receivedByteCount: 0, expectedByteCount: Int64(size)))
        guard let data = try readAll(descriptor, size: size, limit: limit, path: path, for: receiver) else {
            throw WebImageError(.badImageData, "the file is empty")
        }
        receiver?.post(LoadProgress(receivedByteCount: Int64(data.count), expectedByteCount: Int64(data.count)))
        return LoadedImageData(data: data)
    }

    private static func readAll(
        _ descriptor: Int32,
        size: Int,
        limit: Int,
        path: String,
        for receiver: LoadReceiver?
    ) throws(WebImageError) -> Data? {
        var buffer = BodyBuffer(limit: limit + 1, sizedExactly: size + 1)
        while receiver?.isCancelled != true {
            // One byte more than is left, so that the end is detected without another allocation. A file that has grown is read to
            // its new end.
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

    /// Returns the path that a file URL names.
    ///
    /// - Throws: ``WebImageError/Code/invalidURL`` for a remote host, and without an absolute path.
    package static func path(of url: URL) throws(WebImageError) -> String {
        let host = url.host() ?? ""
        guard host.isEmpty || host.lowercased() == "localhost" else {
            throw WebImageError(.invalidURL, "the file URL names a remote host")
        }
        let path = url.path(percentEncoded: false)
        guard path.hasPrefix("/"), !path.utf8.contains(0) else {
            throw WebImageError(.invalidURL, "the file URL has no absolute path")
        }
        return path
    }

    /// Returns the error of a system call that has just failed.
    package static func systemError(_ path: String, _ what: String) -> WebImageError {
        let code = errno
        let isMissing = code == ENOENT || code == ENOTDIR
        return WebImageError(
            isMissing ? .fileNotFound : .fileAccessFailed,
            isMissing ? "\(path) does not exist" : "\(path) \(what)",
            underlyingError: SystemError(number: code)
        )
    }
}

/// An open video file, of which only parts are read. Closed when it is released.
private final class FileByteSource: ImageByteSource {
    let byteCount: Int
    let beginning: Data
    private let descriptor: Int32
    private let path: String

    /// The number of bytes in which every signature is.
    private static let signatureLength = 4 << 10

    /// Takes over the descriptor of a file that begins like a video; returns nil for all others.
    init?(adoptingVideo descriptor: Int32, path: String, size: Int) {
        var bytes = [UInt8](repeating: 0, count: min(max(size, 0), Self.signatureLength))
        let count = pread(descriptor, &bytes, bytes.count, 0)
        let beginning = Data(bytes.prefix(max(count, 0)))
        guard ImageFormat(detecting: beginning).isVideo else { return nil }
        (self.descriptor, self.path, self.byteCount, self.beginning) = (descriptor, path, size, beginning)
    }

    deinit { close(descriptor) }

    /// Stands for the descriptor: with the default limit, 64 files at most wait for their decode.
    var heldByteCount: Int { 1 << 20 }

    func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws(WebImageError) -> Int {
        while true {
            let count = pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset))
            if count >= 0 { return count }
            if errno != EINTR { throw FileImageLoader.systemError(path, "cannot be read") }
        }
    }
}

/// A failure of a system call.
package struct SystemError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The `errno`.
    package let number: Int32

    /// The system's message for the error number.
    package var description: String { String(cString: strerror(number)) }
}
