import CWebImageGTK4
public import FoundationEssentials
public import WebImage

/// Loads images from all URLs that GIO reads: resources compiled into the program (`resource:`) and, if GVfs is installed (as on most desktops),
/// network shares, phones, cameras and the trash (`smb:`, `sftp:`, `mtp:`, `gphoto2:`, `trash:`, …).
///
/// Add it to the loaders of your managers, once:
///
/// ```swift
/// ImageLoadersManager.shared.add(GIOImageLoader.shared)
/// ```
///
/// A location must already be mounted, for example by opening it in a file manager: the loader never asks for a password. `http:`, `https:`, `file:`
/// and `data:` URLs are left to the other loaders. Managers with a source policy never use it. A load has no time limit: cancel it if a device or
/// server does not answer.
public final class GIOImageLoader: ImageLoading {
    /// A loader with the default limit.
    public static let shared = GIOImageLoader()

    private let maximumFileByteCount: Int
    /// A share that does not answer blocks these threads until its loads are cancelled.
    private let queue = WorkQueue(name: "webimage-gio", width: 8)
    /// Resources are in memory.
    private let resourceQueue = WorkQueue(name: "webimage-gio", width: 1)

    /// Creates a loader.
    ///
    /// - Parameter maximumFileByteCount: The maximum number of bytes of a file, 256 MiB by default; negative values count as 0. A larger file fails
    ///   with ``WebImage/WebImageError/Code/limitExceeded``, whose limit has the name `maximumFileByteCount`.
    public init(maximumFileByteCount: Int = 256 << 20) { self.maximumFileByteCount = max(maximumFileByteCount, 0) }

    /// Returns whether GIO reads URLs of this scheme, and no other loader of the library does.
    public func canLoad(_ url: URL, options: WebImageOptions) -> Bool { Self.reads(scheme: url.scheme ?? "") }

    /// Reads the file. Progress is reported on a reading thread after each read of at most 256 KiB; the completion is called there too, or on the
    /// thread that cancels.
    ///
    /// A cancel ends a read that waits for a slow device. Errors are ``WebImage/WebImageError/Code/fileNotFound``,
    /// ``WebImage/WebImageError/Code/fileAccessFailed`` with GIO's message, ``WebImage/WebImageError/Code/limitExceeded``,
    /// ``WebImage/WebImageError/Code/badImageData`` for an empty file, and ``WebImage/WebImageError/Code/cancelled``.
    public func load(
        _ request: ImageLoadRequest,
        progress: @escaping @Sendable (LoadProgress) -> Void,
        completion: @escaping @Sendable (Result<LoadedImageData, WebImageError>) -> Void
    ) -> any ImageLoaderOperation {
        let (limit, cancellable) = (maximumFileByteCount, GIOCancellable())
        let queue = request.url.scheme?.lowercased() == "resource" ? resourceQueue : queue
        let receiver = LoadReceiver(url: request.url, progress: progress, completion: completion)
            .load(on: queue, priority: request.priority) { receiver throws(WebImageError) in
                try GIOFile(request.url, cancellable).read(limit: limit, for: receiver)
            }
        return GIOLoad(receiver: receiver, cancellable: cancellable)
    }

    /// Returns false: a device may be connected later, and a file created.
    public func shouldBlockFailedURL(_ url: URL, error: WebImageError) -> Bool { false }

    package static func reads(scheme: String) -> Bool {
        let scheme = scheme.lowercased()
        // First, because GIO may have to connect to GVfs to list its schemes.
        return !["http", "https", "file", "data"].contains(scheme) && schemes.contains(scheme)
    }

    private static let schemes: Set<String> = {
        var schemes: Set = ["resource"]
        var next = g_vfs_get_supported_uri_schemes(g_vfs_get_default())
        while let scheme = next?.pointee {
            schemes.insert(String(cString: scheme).lowercased())
            next = next?.successor()
        }
        return schemes
    }()
}

/// A load that a cancel interrupts.
private final class GIOLoad: ImageLoaderOperation {
    private let receiver: LoadReceiver
    private let cancellable: GIOCancellable

    init(receiver: LoadReceiver, cancellable: GIOCancellable) {
        (self.receiver, self.cancellable) = (receiver, cancellable)
    }

    var isCancelled: Bool { receiver.isCancelled }

    func cancel() {
        receiver.cancel()
        cancellable.cancel()
    }

    func setPriority(_ priority: LoadPriority) { receiver.setPriority(priority) }
}

/// Interrupts calls of GIO, from any thread.
private final class GIOCancellable: Sendable {
    fileprivate nonisolated(unsafe) let pointer: UnsafeMutablePointer<GCancellable>? = g_cancellable_new()

    func cancel() { g_cancellable_cancel(pointer) }

    deinit { g_object_unref(pointer) }
}

/// A file that GIO reads, with blocking calls.
private struct GIOFile: ~Copyable {
    private let url: URL
    private let file: OpaquePointer?
    private let cancellable: GIOCancellable

    private static let chunkByteCount = 256 << 10

    init(_ url: URL, _ cancellable: GIOCancellable) {
        (self.url, self.cancellable) = (url, cancellable)
        file = g_file_new_for_uri(url.absoluteString)
    }

    deinit { g_object_unref(UnsafeMutableRawPointer(file)) }

    func read(limit: Int, for receiver: LoadReceiver) throws(WebImageError) -> Data {
        let size = try size()
        if let size, size > limit { throw .limitExceeded("maximumFileByteCount", allowed: limit, required: size) }
        receiver.post(LoadProgress(receivedByteCount: 0, expectedByteCount: size.map(Int64.init)))
        let stream = try call { g_file_read(file, cancellable.pointer, &$0) }
        defer { g_object_unref(stream) }
        let input = UnsafeMutableRawPointer(stream).assumingMemoryBound(to: GInputStream.self)
        let chunk = UnsafeMutableRawPointer.allocate(byteCount: Self.chunkByteCount, alignment: 16)
        defer { chunk.deallocate() }
        var data = Data()
        // The stated size is not trusted.
        data.reserveCapacity(min(size ?? 0, 16 << 20))
        while true {
            let count = try call { error in
                let count = g_input_stream_read(input, chunk, gsize(Self.chunkByteCount), cancellable.pointer, &error)
                return count < 0 ? nil : count
            }
            guard count > 0 else { break }
            let received = data.count + count
            guard received <= limit else {
                throw .limitExceeded("maximumFileByteCount", allowed: limit, required: received)
            }
            data.append(chunk.assumingMemoryBound(to: UInt8.self), count: count)
            receiver.post(LoadProgress(receivedByteCount: Int64(received), expectedByteCount: size.map(Int64.init)))
        }
        guard !data.isEmpty else { throw WebImageError(.badImageData, "the file is empty") }
        return data
    }

    /// Returns the number of bytes; nil if it is unknown.
    ///
    /// - Throws: ``WebImageError/Code/fileAccessFailed`` for folders, pipes and devices.
    private func size() throws(WebImageError) -> Int? {
        let attributes = "\(G_FILE_ATTRIBUTE_STANDARD_TYPE),\(G_FILE_ATTRIBUTE_STANDARD_SIZE)"
        let info = try call { g_file_query_info(file, attributes, G_FILE_QUERY_INFO_NONE, cancellable.pointer, &$0) }
        defer { g_object_unref(UnsafeMutableRawPointer(info)) }
        let hasType = g_file_info_has_attribute(info, G_FILE_ATTRIBUTE_STANDARD_TYPE) != 0
        let type = hasType ? g_file_info_get_file_type(info) : G_FILE_TYPE_UNKNOWN
        guard type == G_FILE_TYPE_REGULAR || type == G_FILE_TYPE_UNKNOWN else {
            throw WebImageError(.fileAccessFailed, "\(url.absoluteString) is not a regular file")
        }
        guard g_file_info_has_attribute(info, G_FILE_ATTRIBUTE_STANDARD_SIZE) != 0 else { return nil }
        // Files that the kernel makes while they are read have size 0.
        let size = Int(clamping: g_file_info_get_size(info))
        return size > 0 ? size : nil
    }

    /// Calls a function that returns nil and an error if it fails.
    private func call<Value>(
        _ body: (inout UnsafeMutablePointer<GError>?) -> Value?
    ) throws(WebImageError) -> Value {
        var problem: UnsafeMutablePointer<GError>?
        if let value = body(&problem) { return value }
        guard let problem else { throw WebImageError(.fileAccessFailed, "\(url.absoluteString) cannot be read") }
        defer { g_error_free(problem) }
        let error = problem.pointee
        let message = error.message.map { String(cString: $0) } ?? "unknown error"
        guard error.domain == g_io_error_quark() else { throw WebImageError(.fileAccessFailed, message) }
        switch GIOErrorEnum(rawValue: GIOErrorEnum.RawValue(error.code)) {
        case G_IO_ERROR_CANCELLED: throw .cancelled(url)
        case G_IO_ERROR_NOT_FOUND: throw WebImageError(.fileNotFound, message)
        default: throw WebImageError(.fileAccessFailed, message)
        }
    }
}
