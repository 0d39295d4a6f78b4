import FoundationEssentials
import TestSupport
import Testing
import WebImage

@testable import DocumentationSnippets

/// The custom parts in the articles, executed.
@Suite struct SnippetRunTests {
    private static func manager(
        _ data: Data,
        cache: any ImageCaching = MemoryOnlyCache(),
        coder: any ImageCoder = ImageCodersManager()
    ) -> (manager: WebImageManager, context: WebImageContext) {
        let loader = ClosureImageLoader(scheme: "test") { _ in data }
        var context = WebImageContext()
        context.imageCoder = coder
        context.callbackQueue = .inline
        return (WebImageManager(cache: cache, loader: loader), context)
    }

    private static func url(_ name: String) throws -> URL { try #require(URL(string: "test://host/\(name)")) }

    // MARK: The coder

    @Test func `The article's coder reads another program's file`() throws {
        let data = try Fixtures.data("JPEG/progressive.ppm")
        let expected = try Fixtures.pixels("JPEG/progressive.ppm")
        #expect(PPMCoder().canDecode(data))
        let image = try PPMCoder().decode(data, options: ImageDecodeOptions())
        #expect(PixelDifference(image.bitmap, expected).maximum == 0)
        let properties = try PPMCoder().properties(of: data, limits: ImageLimits())
        #expect([properties.width, properties.height] == [expected.width, expected.height])
        // It reads its own output.
        let written = try PPMCoder().encode(image, to: .ppm, options: ImageEncodeOptions())
        let again = try PPMCoder().decode(written, options: ImageDecodeOptions())
        #expect(PixelDifference(again.bitmap, expected).maximum == 0)
    }

    @Test func `The article's coder works in a load, with a thumbnail size`() async throws {
        let data = try Fixtures.data("JPEG/progressive.ppm")
        var (manager, context) = Self.manager(data, coder: ImageCodersManager(coders: [PPMCoder()]))
        context.thumbnailPixelSize = ImageSize(width: 10, height: 10)
        let image = try await manager.image(with: Self.url("a.ppm"), context: context)
        #expect(max(image.pixelWidth, image.pixelHeight) == 10)
        #expect(image.metadata.isThumbnail)
        #expect(image.format == .ppm)
    }

    @Test(arguments: [
        "P6", "P6\n4 4\n255\n", "P6\n4 4\n65535\nxxxx", "P6\n-1 4\n255\nxxxx", "P6\n99999999999 9\n255\nx",
    ])
    func `The article's coder refuses damaged files`(text: String) {
        #expect(throws: WebImageError.self) {
            try PPMCoder().decode(Data(text.utf8), options: ImageDecodeOptions())
        }
    }

    // MARK: The cache of several machines

    @Test func `Two machines share a folder by the guide's cache`() async throws {
        let body = [UInt8](try Fixtures.data("JPEG/baseline-420.jpg"))
        let server = try LoopbackServer { _ in .response(body: body) }
        let directory = TemporaryDirectory()
        let url = server.url("/a.jpg")
        let folder = DiskCache(path: directory.path("shared/trusted"))
        for name in ["first", "second"] {
            let local = ImageCache(namespace: name, directory: directory.path)
            let cache = SharedFolderCache(local: local, folder: directory.path("shared"))
            let manager = WebImageManager(cache: cache, loader: WebImageDownloader())
            let image = try await manager.image(with: url)
            #expect(image.pixelWidth == 61 && image.pixelHeight == 45)
            // The folder is written in the background.
            while !folder.containsData(forKey: url.absoluteString) { await Task.yield() }
            await local.flush()
        }
        #expect(server.requestCount() == 1)
        #expect(folder.entry(forKey: url.absoluteString)?.data == Data(body))
    }

    // MARK: The transformer

    @Test func `The article's transformer makes all components equal`() async throws {
        for name in ["JPEG/progressive.jpg", "PNG/photo-rgba.png"] {
            let source = try await Image.decode(Fixtures.data(name))
            let result = try Grayscale().transform(source)
            #expect([result.pixelWidth, result.pixelHeight] == [source.pixelWidth, source.pixelHeight])
            let (row, column) = (source.pixelHeight / 2, source.pixelWidth / 2)
            let before = source.bitmap.premultipliedRGBA(x: column, y: row).map(Int.init)
            let after = result.bitmap.premultipliedRGBA(x: column, y: row).map(Int.init)
            let gray = (54 * before[0] + 183 * before[1] + 19 * before[2]) >> 8
            #expect(after == [gray, gray, gray, before[3]], "\(name)")
        }
    }

    // MARK: Caches and loaders

    @Test func `The article's disk level writes data that is unreadable without it`() async throws {
        let directory = TemporaryDirectory()
        var config = ImageCacheConfig()
        config.makeDiskCache = { path, config in SealedDisk(path: path, config: config) }
        let cache = ImageCache(namespace: "sealed", directory: directory.path, config: config)
        let data = try Fixtures.data("JPEG/progressive.jpg")
        let (manager, context) = Self.manager(data, cache: cache)
        let url = try Self.url("a.jpg")
        _ = try await manager.image(with: url, options: .waitStoreCache, context: context)
        let file = try #require(cache.cachePath(forKey: url.absoluteString))
        #expect(try !Data(contentsOf: URL(fileURLWithPath: file)).starts(with: data.prefix(16)))
        await cache.clear(.memory)
        let found = try await manager.result(with: url, options: .fromCacheOnly, context: context)
        #expect(found.cacheType == .disk)
        #expect(found.data == data)
    }

    @Test func `The article's cache keeps images only in memory`() async throws {
        let cache = MemoryOnlyCache()
        let (manager, context) = try Self.manager(Fixtures.data("JPEG/progressive.jpg"), cache: cache)
        let url = try Self.url("a.jpg")
        #expect(try await manager.result(with: url, context: context).cacheType == .none)
        #expect(try await manager.result(with: url, context: context).cacheType == .memory)
        await withCheckedContinuation { continuation in cache.clear(.all) { continuation.resume() } }
        #expect(try await manager.result(with: url, context: context).cacheType == .none)
    }

    @Test func `The article's loader serves one host`() throws {
        let loader = MirrorLoader()
        #expect(loader.canLoad(try #require(URL(string: "https://pictures.example/a.jpg")), options: []))
        #expect(!loader.canLoad(try #require(URL(string: "https://other.example/a.jpg")), options: []))
    }

    // MARK: First steps

    #if compiler(>=6.2)
        // In a separate process, because the code uses a program's shared instances.
        @Test func `The first steps of the README and the guide work`() async {
            await #expect(processExitsWith: .success) {
                let directory = TemporaryDirectory()
                ImageCache.defaultDiskCacheDirectory = directory.path
                let jpeg = try Fixtures.data("JPEG/progressive.jpg")
                let server = try LoopbackServer { _ in .response(body: [UInt8](jpeg)) }
                try await GettingStartedSnippets.load(url: server.url("/a.jpg"))
                try await GettingStartedSnippets.result(url: server.url("/b.jpg"))
                try await GettingStartedSnippets.events(url: server.url("/c.jpg"))
                try await GettingStartedSnippets.thumbnail(url: server.url("/a.jpg"))
                await GettingStartedSnippets.errors(url: server.url("/a.jpg"))
                let thumbnail = try await thumbnail(of: server.url("/a.jpg"))
                guard ImageFormat(detecting: thumbnail) == .jpeg, server.requestCount("/a.jpg") == 1 else {
                    throw WebImageError(.badImageData, "no thumbnail of one download")
                }
                await ImageCache.shared.flush()
                try await LoadingOptionsSnippets.refresh(url: server.url("/a.jpg"))
                ObservingSnippets.observer()
                try await ObservingSnippets.recording(url: server.url("/d.jpg"))
                ObservingSnippets.statistics()
                GettingStartedSnippets.lifecycle()
            }
        }
    #endif
}
