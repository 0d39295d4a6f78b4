import FoundationEssentials
import WebImage

/// The source of tiles: an image that is read in parts.
struct TileSource: Sendable {
    let grid: TileGrid
    /// Reads a rectangle of a level; may be cancelled. Called from any thread.
    let read: @Sendable (_ rect: ImageRect, _ level: Int) async throws -> Image
    /// Returns a rectangle of an image in memory, whose pixels it shares; nil if tiles have to be read.
    private(set) var part: (@Sendable (ImageRect) -> Image?)?

    init(grid: TileGrid, read: @escaping @Sendable (_ rect: ImageRect, _ level: Int) async throws -> Image) {
        (self.grid, self.read) = (grid, read)
    }

    /// Creates a source of parts of an image in memory; nil if the image is not too big for a texture.
    init?(_ image: Image) {
        guard max(image.pixelWidth, image.pixelHeight) > TileGrid.longestSide,
            let bitmap = try? image.bitmap.upright(from: image.orientation),
            let grid = TileGrid(levels: [(bitmap.width, bitmap.height)], side: TileGrid.longestSide / 2)
        else { return nil }
        let part: @Sendable (ImageRect) -> Image = { rect in
            let (x, y, width, height) = (Int(rect.x), Int(rect.y), Int(rect.width), Int(rect.height))
            return Image(bitmap: bitmap.part(x: x, y: y, width: width, height: height))
        }
        self.init(grid: grid) { rect, _ in part(rect) }
        self.part = part
    }

    /// Returns whether an image is drawn in tiles: if it is too big for a texture, and its source has the same pixels.
    ///
    /// - Parameter context: the context of the image's load, as the manager's processor returns it.
    @MainActor
    static func suits(_ image: Image, _ manager: WebImageManager, _ context: WebImageContext?) -> Bool {
        let size = image.uprightSourceSize
        guard max(size.width, size.height) > Double(TileGrid.longestSide) else { return false }
        guard image.animation == nil, !image.metadata.isTransformed, !image.metadata.isIncremental,
            image.bitmap.pixelFormat != .rgbaHalfPremultiplied
        else { return false }
        // Tiles are decoded with the default options, and of the first page.
        guard context?.decodeOptions == nil, context?.page == nil, context?.videoTime == nil,
            context?.rawDevelopment == nil
        else { return false }
        // Only the manager's loads obey its policy, and use the program's coders.
        return manager.policy.isTrusted && context?.imageCoder == nil
    }

    /// Returns the context of a zoomable image's load: the whole image may have any number of pixels, because it is decoded at the size of the
    /// view.
    @MainActor
    static func context(for context: WebImageContext?) -> WebImageContext {
        var context = context ?? WebImageContext()
        let manager = context.customManager ?? .shared
        guard context.decodeOptions == nil, manager.policy.isTrusted else { return context }
        var options = ImageDecodeOptions()
        options.limits.maximumPixelCount = RegionOptions().maximumImagePixelCount
        context.decodeOptions = options
        return context
    }

    /// Opens the source of an image: a file, or the bytes in the cache, or else from the loader.
    ///
    /// - Parameters:
    ///   - hash: the XXH3 of the bytes that the image was made of; nil if unknown.
    ///   - options: the options of the image's load.
    ///   - processed: the context as the manager's processor returns it.
    static func open(
        _ url: URL,
        madeOf hash: UInt64?,
        _ manager: WebImageManager,
        _ options: WebImageOptions,
        _ context: WebImageContext?,
        processed: WebImageContext?
    ) async -> TileSource? {
        guard let reader = try? await reader(url, hash, manager, options, context, processed) else { return nil }
        let levels = reader.levels.map { (width: $0.width, height: $0.height) }
        guard let grid = TileGrid(levels: levels, side: reader.tileSize) else { return nil }
        return TileSource(grid: grid) { rect, level in try await reader.read(rect, level: level) }
    }

    private static func reader(
        _ url: URL,
        _ hash: UInt64?,
        _ manager: WebImageManager,
        _ options: WebImageOptions,
        _ context: WebImageContext?,
        _ processed: WebImageContext?
    ) async throws -> any RegionReader {
        let coders = coders(processed?.decoding ?? manager.decoding)
        // Other loaders may have other bytes than the file.
        let loader = processed?.imageLoader ?? manager.imageLoader
        if url.isFileURL, loader is ImageLoadersManager || loader is FileImageLoader {
            return try await coders.regionReader(forFileAt: url.path)
        }
        var context = context
        // It observes the load of the image.
        context?.observer = nil
        let data = try await manager.data(
            with: url,
            options: options.subtracting([.refreshCached, .fromLoaderOnly, .retryFailed]),
            context: context
        )
        // Tiles of newer bytes would be drawn over the former image.
        if let hash, hash != data.contentHash { throw WebImageError(.badImageData, "the image has changed", url: url) }
        return try await coders.regionReader(for: data)
    }

    /// The coders that decode tiles where the image's load decodes.
    private static func coders(_ place: DecodingPlace) -> ImageCodersManager {
        guard place.isolation != nil else { return .shared }
        return ImageCodersManager(coders: [place.coder(insteadOf: ImageCodersManager.shared)])
    }
}
