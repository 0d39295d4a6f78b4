import FoundationEssentials
import Glibc

/// The thumbnail cache that the programs of a desktop share: `~/.cache/thumbnails`, as freedesktop.org specifies it. File managers fill it.
///
/// A manager that has it (``WebImageManager/desktopThumbnails``) reads small images of local files from there, so a folder of photos appears
/// without decoding the photos:
///
/// ```swift
/// WebImageManager.shared.desktopThumbnails = .shared
/// ```
///
/// A thumbnail is used if it shows the file as it is now (its URL, time and size are compared with those of the file), and if the load's
/// ``WebImageContext/thumbnailPixelSize`` can be made from it without enlarging: the image has the size, the keys and the metadata of one
/// that was decoded from the file, except that colours are those of the program that made the thumbnail. Otherwise, and if the thumbnail is
/// damaged, the file is decoded. Files that the user may not read, SVG and PDF are always loaded themselves, and so is a file that may be an
/// animation, unless the load decodes only the first frame (``WebImageOptions/decodeFirstFrameOnly``). So are loads with
/// ``WebImageOptions/fromLoaderOnly``, ``WebImageOptions/refreshCached``, a custom coder, a ``CachePolicy`` other than
/// ``CachePolicy/immutable``, high dynamic range, a page, or ``ImageDecodeOptions/refusesDamagedData``, and those that do not query the disk.
///
/// Thread-safe. Thumbnails are not kept in memory here; results are, in the manager's cache.
public final class DesktopThumbnailCache: Sendable {
    /// A size of thumbnails, by the length of the longer side in pixels. An image that is smaller is not enlarged.
    public enum Size: Int, Sendable, CaseIterable {
        /// 128 pixels.
        case normal = 128
        /// 256 pixels.
        case large = 256
        /// 512 pixels.
        case xLarge = 512
        /// 1024 pixels.
        case xxLarge = 1024

        /// The name of the folder.
        var folder: String {
            switch self {
            case .normal: "normal"
            case .large: "large"
            case .xLarge: "x-large"
            case .xxLarge: "xx-large"
            }
        }
    }

    /// The cache of the user: `thumbnails` in `$XDG_CACHE_HOME`, or in `~/.cache`.
    public static let shared = DesktopThumbnailCache()

    /// The directory with a folder for each size.
    let directory: String

    /// Creates a cache.
    ///
    /// - Parameter directory: The directory with a folder for each size; that of the user if nil. Created with the first thumbnail.
    public init(directory: String? = nil) {
        self.directory = CacheDirectory.absolute(directory ?? ImageCache.userCacheDirectory + "/thumbnails")
    }

    /// Returns the path of the thumbnail of a file, whether it exists or not.
    func path(of file: LocalImageFile.Identity, _ size: Size) -> String {
        "\(directory)/\(size.folder)/\(Hashing.md5Hex(file.uri, suffix: ".png"))"
    }

    /// Returns whether a file is one of the thumbnails, of which there are none.
    func contains(_ file: LocalImageFile.Identity) -> Bool { file.path.hasPrefix(directory + "/") }
}

// MARK: Reading

/// A thumbnail that shows a file as it is.
struct DesktopThumbnail: Sendable {
    let path: String
    /// The PNG file.
    let data: Data
    /// The options that make the load's image from it.
    let options: ImageDecodeOptions
    /// The properties of the file.
    let properties: ImageProperties

    /// Decodes the thumbnail to an image with the metadata of the file's.
    ///
    /// - Parameter options: ``options``, or those for a smaller image.
    func image(by coder: any ImageCoder, options: ImageDecodeOptions) throws(WebImageError) -> Image {
        let image = try coder.completeImage(of: data, options: options)
        var metadata = image.metadata
        let isWhole =
            options.thumbnailPixelSize == ImageSize(width: Double(image.pixelWidth), height: Double(image.pixelHeight))
        guard isWhole || metadata.scaleDownLimitBytes > 0, !metadata.isDamaged, image.animation == nil else {
            throw WebImageError(.badImageData, "the thumbnail has another size than its header declares")
        }
        metadata.isThumbnail = true
        metadata.format = properties.format
        (metadata.sourceWidth, metadata.sourceHeight) = (properties.width, properties.height)
        metadata.sourceOrientation = properties.orientation
        metadata.pageCount = properties.pageCount
        metadata.colorProfile = properties.colorProfile
        // Of a file that may be an animation, only the beginning has been read.
        metadata.isFirstFrame = !LocalImageFile.stillFormats.contains(properties.format)
        return image.with(metadata: metadata)
    }
}

extension DesktopThumbnailCache {
    /// The maximum number of bytes of a thumbnail: one of 1024 × 1024 pixels that is not compressed has 4 MiB.
    private static let maximumByteCount = 16 << 20

    /// Returns the smallest thumbnail from which an image can be made; nil without one. Blocks: reads files, and the header of the original.
    func thumbnail(of url: URL, options: ImageDecodeOptions, coder: any ImageCoder) -> DesktopThumbnail? {
        guard let box = options.thumbnailPixelSize, let file = try? LocalImageFile(url), !contains(file.identity) else {
            return nil
        }
        var wanted: (properties: ImageProperties, size: PixelSize)?
        // The image that fits into a box has at least one of its sides.
        for size in Size.allCases where Double(size.rawValue) >= min(box.width, box.height).rounded(.down) {
            let path = path(of: file.identity, size)
            guard let data = Self.read(path), let texts = PNGTexts(data, keywords: ThumbnailText.checked),
                ThumbnailText.matches(texts, file.identity), max(texts.width, texts.height) <= size.rawValue
            else { continue }
            // Read only if there is a thumbnail.
            wanted =
                wanted
                ?? file.properties(for: options, coder: coder).flatMap { properties in
                    PixelSize(of: properties, options).map { (properties, $0) }
                }
            guard let (properties, result) = wanted else { return nil }
            let thumbnail = PixelSize(width: texts.width, height: texts.height)
            guard thumbnail.covers(result), thumbnail.hasShape(of: PixelSize(upright: properties)) else { continue }
            var exact = options
            exact.thumbnailPixelSize = ImageSize(width: Double(result.width), height: Double(result.height))
            (exact.preserveAspectRatio, exact.thumbnailCovers, exact.decodeFirstFrameOnly) = (false, false, true)
            exact.formatHint = nil
            return DesktopThumbnail(path: path, data: data, options: exact, properties: properties)
        }
        return nil
    }

    /// Returns the bytes of a thumbnail; nil if there is none, or if another user has placed it there.
    static func read(_ path: String) -> Data? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            status.st_uid == geteuid() || status.st_uid == 0, (1...maximumByteCount).contains(Int(status.st_size))
        else { return nil }
        return try? FileCalls.system.readFully(descriptor, count: Int(status.st_size), path: path)
    }
}

/// The number of pixels of an upright image.
private struct PixelSize {
    let width: Int
    let height: Int

    init(width: Int, height: Int) { (self.width, self.height) = (width, height) }

    init(upright properties: ImageProperties) { (width, height) = properties.uprightSize }

    /// The size of the image that a load wants; nil if it is not a thumbnail, or if the limits do not allow to decode the original.
    init?(of properties: ImageProperties, _ options: ImageDecodeOptions) {
        guard let plan = try? DecodePlan.make(for: properties, options: options), plan.isThumbnail,
            plan.scaleDownLimitBytes == 0
        else { return nil }
        let isTurned = properties.orientation.swapsSides
        (width, height) = isTurned ? (plan.height, plan.width) : (plan.width, plan.height)
    }

    func covers(_ other: PixelSize) -> Bool { width >= other.width && height >= other.height }

    /// Returns whether the other size has the same aspect ratio, apart from rounding a side to a pixel.
    func hasShape(of other: PixelSize) -> Bool {
        let (first, isFirstTooLarge) = width.multipliedReportingOverflow(by: other.height)
        let (second, isSecondTooLarge) = height.multipliedReportingOverflow(by: other.width)
        return !isFirstTooLarge && !isSecondTooLarge && abs(first - second) <= max(other.width, other.height)
    }
}

extension ImageDecodeOptions {
    /// Indicates whether an image with these options may be made from a thumbnail that another program has made.
    var acceptsDesktopThumbnail: Bool {
        isThumbnail && page == 0 && videoTime == nil && rawDevelopment == .preview && !decodeToHDR
            && pixelFormat != .rgbaHalfPremultiplied && !refusesDamagedData
            && !requiresAnimation && values.isEmpty
    }
}
