import FoundationEssentials
import Glibc
import TestSupport

@testable import WebImageLoading
@testable import WebImageModel

/// A photo in a directory, thumbnails of it, and a manager that reads them.
final class ThumbnailBench: Sendable {
    typealias Texts = [String: String]

    enum Mode: Sendable { case fit, cover, stretch }

    enum Color: CaseIterable, Sendable {
        case red, green, blue

        var bytes: [UInt8] {
            switch self {
            case .red: [255, 0, 0]
            case .green: [0, 255, 0]
            case .blue: [0, 0, 255]
            }
        }
    }

    let directory = TemporaryDirectory()
    let cache: ImageCache
    let manager: WebImageManager
    let thumbnails: DesktopThumbnailCache
    let file: String
    let url: URL

    init() throws {
        cache = ImageCache(directory: directory.path("cache"))
        manager = WebImageManager(cache: cache, loader: ImageLoadersManager(loaders: ImageLoadersManager.builtIn))
        thumbnails = DesktopThumbnailCache(directory: directory.path("thumbnails"))
        manager.desktopThumbnails = thumbnails
        file = directory.path("a photo #1.jpg")
        url = URL(filePath: file)
        try setFile(Fixtures.data("JPEG/photo.jpg"))
    }

    func setFile(_ data: Data, modified: Int = 1_600_000_000) throws {
        try data.write(to: url)
        var times = (timespec(tv_sec: modified, tv_nsec: 7), timespec(tv_sec: modified, tv_nsec: 7))
        let isSet = withUnsafePointer(to: &times.0) { utimensat(AT_FDCWD, file, $0, 0) == 0 }
        guard isSet else { throw WebImageError(.fileAccessFailed, "cannot set the time") }
    }

    func identity() throws -> LocalImageFile.Identity { try LocalImageFile(url).identity }

    func path(_ size: DesktopThumbnailCache.Size) throws -> String { thumbnails.path(of: try identity(), size) }

    // MARK: Thumbnails

    func write(
        _ size: DesktopThumbnailCache.Size,
        _ color: Color,
        _ width: Int,
        _ height: Int,
        _ change: (inout Texts) -> Void = { _ in }
    ) throws {
        let file = try identity()
        var texts = ["Thumb::URI": file.uri, "Thumb::MTime": "\(file.modificationTime)"]
        change(&texts)
        let bitmap = try Bitmap.allocate(width: width, height: height, pixelFormat: .rgb8)
        let line = (0..<width).flatMap { _ in color.bytes }
        for y in 0..<height { bitmap.mutableRow(y).copyMemory(from: line, byteCount: line.count) }
        let png = try PNGCoder().encode(Image(bitmap: bitmap), to: .png, options: ImageEncodeOptions())
        let made = PNGTexts.adding(texts.map { (keyword: $0.key, text: $0.value) }, to: png)
        try write(size, data: made ?? Data())
    }

    func write(_ size: DesktopThumbnailCache.Size, data: Data) throws {
        let url = URL(filePath: try path(size))
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try data.write(to: url)
    }

    /// Returns a thumbnail of another program with the URL and the time of a file.
    static func retold(_ data: Data, _ file: LocalImageFile.Identity) -> Data {
        var (bytes, rest) = (Data(), data)
        for keyword in ["Thumb::URI", "Thumb::MTime", "Thumb::Size"] { rest = without(keyword, rest) }
        let texts = [("Thumb::URI", file.uri), ("Thumb::MTime", "\(file.modificationTime)")]
        bytes = PNGTexts.adding(texts.map { (keyword: $0.0, text: $0.1) }, to: rest) ?? Data()
        return bytes
    }

    /// Returns a PNG file without the text of a keyword.
    private static func without(_ keyword: String, _ data: Data) -> Data {
        let bytes = [UInt8](data)
        var (result, offset) = (Array(bytes[..<8]), 8)
        while offset + 12 <= bytes.count {
            let length = bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
            let chunk = bytes[offset..<offset + 12 + length]
            if !chunk.dropFirst(8).starts(with: keyword.utf8) { result += chunk }
            offset += 12 + length
        }
        return Data(result)
    }

    // MARK: Loads

    func context(_ width: Int, _ height: Int, _ mode: Mode = .fit) -> WebImageContext {
        var context = WebImageContext()
        context.thumbnailPixelSize = ImageSize(width: Double(width), height: Double(height))
        context.preserveAspectRatio = mode != .stretch
        context.thumbnailCovers = mode == .cover
        return context
    }

    /// Loads the image without what earlier loads left in memory or on disk.
    func image(_ context: WebImageContext, _ options: WebImageOptions = []) async throws -> Image {
        var context = context
        (context.storeCacheType, context.originalStoreCacheType) = (ImageCacheType.none, ImageCacheType.none)
        return try await manager.image(with: url, options: options, context: context)
    }

    /// Decodes the file.
    func original(_ context: WebImageContext) async throws -> Image { try await image(context, .fromLoaderOnly) }

    /// The colour of an image made from a thumbnail; nil for the photo.
    func color(of image: Image) -> Color? {
        let points = [
            (0, 0), (image.pixelWidth / 2, image.pixelHeight / 2), (image.pixelWidth - 1, image.pixelHeight - 1),
        ]
        return Color.allCases.first { color in
            points.allSatisfy { Array(image.bitmap.premultipliedRGBA(x: $0.0, y: $0.1).prefix(3)) == color.bytes }
        }
    }
}

extension Image {
    /// Decodes a PNG file to fit into a square.
    static func decode(_ data: Data, fitting side: Int) async throws -> Image {
        var options = ImageDecodeOptions()
        options.thumbnailPixelSize = ImageSize(width: Double(side), height: Double(side))
        return try await valueOnThread { [options] in try PNGCoder().decode(data, options: options) }
    }
}
