import FoundationEssentials
import Glibc

/// An open file with what the thumbnail specification identifies it by.
struct LocalImageFile: ~Copyable {
    /// A file and its version.
    struct Identity: Sendable, Hashable {
        let path: String
        /// The URL as GLib writes it, the same in all programs.
        let uri: String
        /// The time of the last change, in seconds.
        let modificationTime: Int64
        let byteCount: Int64
    }

    /// Formats whose files are never animations.
    static let stillFormats: Set<ImageFormat> = [.jpeg, .bmp, .tiff]
    /// The headers of most files are within these bytes.
    private static let headerByteCount = 64 << 10
    private static let maximumByteCount = 64 << 20

    let identity: Identity
    private let descriptor: Int32

    /// Opens the file of a URL, like ``FileImageLoader``.
    ///
    /// - Throws: ``WebImageError/Code/invalidURL``, ``WebImageError/Code/fileNotFound``, ``WebImageError/Code/fileAccessFailed``.
    init(_ url: URL) throws(WebImageError) { (descriptor, identity) = try Self.opened(url) }

    deinit { close(descriptor) }

    private static func opened(_ url: URL) throws(WebImageError) -> (Int32, Identity) {
        let path = try FileImageLoader.path(of: url)
        guard let location = location(of: path) else { throw WebImageError(.invalidURL, "the path has '..' in it") }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { throw FileImageLoader.systemError(path, "cannot be opened") }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw WebImageError(.fileAccessFailed, "\(path) is not a regular file")
        }
        let identity = Identity(
            path: location.path,
            uri: location.uri,
            modificationTime: Int64(status.st_mtim.tv_sec),
            byteCount: Int64(status.st_size)
        )
        return (descriptor, identity)
    }

    /// Returns an absolute path and its URL as GLib's `g_file_get_uri` writes them; nil for a path with "..", which may mean another file there.
    static func location(of path: String) -> (path: String, uri: String)? {
        let parts = path.split(separator: "/").filter { $0 != "." }
        guard !parts.contains("..") else { return nil }
        let path = "/" + parts.joined(separator: "/")
        let digits = Array("0123456789ABCDEF".utf8)
        var uri = Array("file://".utf8)
        for byte in path.utf8 {
            if isPlain(byte) {
                uri.append(byte)
            } else {
                uri += [0x25, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return (path, String(decoding: uri, as: UTF8.self))
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "!$&'()*+,-./:=@_~".utf8.contains(byte)
        }
    }

    /// Returns the properties in the file's header; nil for a file that no thumbnail may stand for.
    func properties(for options: ImageDecodeOptions, coder: any ImageCoder) -> ImageProperties? {
        guard let head = read(upTo: Self.headerByteCount) else { return nil }
        let format = ImageFormat(detecting: head)
        guard ![.undefined, .svg, .pdf].contains(format),
            options.decodeFirstFrameOnly || Self.stillFormats.contains(format)
        else { return nil }
        func parse(_ data: Data) -> ImageProperties? {
            // The header of a JPEG is read here: a trip to a worker would take longer than to show the thumbnail.
            format == .jpeg ? try? JPEGCoder.extent(of: data) : try? coder.properties(of: data, limits: options.limits)
        }
        if let properties = parse(head) { return properties }
        guard identity.byteCount > head.count, identity.byteCount <= Self.maximumByteCount,
            let data = read(upTo: Self.maximumByteCount)
        else { return nil }
        return parse(data)
    }

    private func read(upTo count: Int) -> Data? {
        let count = min(count, Int(identity.byteCount))
        return try? FileCalls.system.readFully(descriptor, count: count, path: identity.path)
    }
}

/// The texts in a thumbnail.
enum ThumbnailText {
    static let uri = "Thumb::URI"
    static let modificationTime = "Thumb::MTime"
    static let byteCount = "Thumb::Size"
    static let mimeType = "Thumb::Mimetype"
    static let width = "Thumb::Image::Width"
    static let height = "Thumb::Image::Height"
    static let software = "Software"

    /// The texts that are compared with the file.
    static let checked: Set = [uri, modificationTime, byteCount]

    /// Returns whether a thumbnail shows a file as it is.
    static func matches(_ texts: PNGTexts, _ file: LocalImageFile.Identity) -> Bool {
        guard texts[uri] == file.uri, let time = texts[modificationTime], Int64(time) == file.modificationTime else {
            return false
        }
        return texts[byteCount].map { Int64($0) == file.byteCount } ?? true
    }
}

extension FileCalls {
    /// Returns the first bytes of a file. Throws EIO if it ends earlier.
    func readFully(_ file: Int32, count: Int, path: @autoclosure () -> String) throws(SystemCallError) -> Data {
        var data = Data(count: count)
        let result = data.withUnsafeMutableBytes { buffer -> SystemCallError? in
            guard let base = buffer.baseAddress else { return nil }
            do throws(SystemCallError) {
                try readFully(file, into: base, count: count, at: 0, path: path())
                return nil
            } catch { return error }
        }
        if let result { throw result }
        return data
    }
}
