import FoundationEssentials
import Glibc
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageLoading
@testable import WebImageModel

/// Small images of local files, read from the thumbnails that the programs of a desktop share.
@Suite(.tags(.threadSanitizer, .addressSanitizer), .timeLimit(.minutes(2))) struct DesktopThumbnailTests {
    private let bench: ThumbnailBench

    init() throws { bench = try ThumbnailBench() }

    private var directory: TemporaryDirectory { bench.directory }

    /// The photo has 480 × 360 pixels; its thumbnails have these colours, to see which one is used.
    private func writeAll() throws {
        try bench.write(.normal, .red, 128, 96)
        try bench.write(.large, .green, 256, 192)
        try bench.write(.xLarge, .blue, 480, 360)
    }

    // MARK: Which one

    @Test(
        arguments: [
            (60, 60, .fit, .red), (128, 128, .fit, .red), (128, 300, .fit, .red), (129, 129, .fit, .green),
            (256, 192, .fit, .green), (257, 400, .fit, .blue), (90, 96, .cover, .red), (90, 97, .cover, .green),
            (100, 100, .stretch, .green), (128, 96, .stretch, .red), (479, 2000, .fit, .blue), (1000, 300, .fit, .blue),
            (480, 360, .fit, nil), (2000, 2000, .fit, nil),
        ] as [(Int, Int, ThumbnailBench.Mode, ThumbnailBench.Color?)]
    )
    func `The smallest thumbnail that need not be enlarged is used, for an image of the same size as the file's`(
        width: Int,
        height: Int,
        mode: ThumbnailBench.Mode,
        expected: ThumbnailBench.Color?
    ) async throws {
        try writeAll()
        let context = bench.context(width, height, mode)
        let (image, original) = try await (bench.image(context), bench.original(context))
        #expect((image.pixelWidth, image.pixelHeight) == (original.pixelWidth, original.pixelHeight))
        #expect(bench.color(of: image) == expected)
        #expect(image.metadata.isThumbnail == original.metadata.isThumbnail)
        #expect(image.format == .jpeg)
        let (metadata, wanted) = (image.metadata, original.metadata)
        #expect((metadata.sourceWidth, metadata.sourceHeight) == (wanted.sourceWidth, wanted.sourceHeight))
    }

    @Test(arguments: ["gnome", "kde"]) func `Thumbnails of GNOME and KDE are read`(name: String) async throws {
        // Their texts name another file: all but the URL and the time is theirs.
        try bench.write(.large, data: ThumbnailBench.retold(Fixtures.data("Thumbnails/\(name).png"), bench.identity()))
        let image = try await bench.image(bench.context(200, 200))
        let thumbnail = try await Image.decode(Fixtures.data("Thumbnails/\(name).png"), fitting: 200)
        #expect(image.bitmap.pixels == thumbnail.bitmap.pixels)
    }

    @Test func `A photo that is turned has an upright thumbnail`() async throws {
        try bench.setFile(Fixtures.data("JPEG/orientation-6.jpg"))
        let whole = try await bench.original(WebImageContext())
        let (width, height) = (whole.pixelWidth, whole.pixelHeight)
        try bench.write(.normal, .red, width, height)
        let context = bench.context(width - 1, 1000)
        let (image, original) = try await (bench.image(context), bench.original(context))
        #expect(bench.color(of: image) == .red && image.pixelWidth == original.pixelWidth)
        #expect(
            image.pixelHeight == original.pixelHeight && image.metadata.sourceWidth == original.metadata.sourceWidth
        )
        try bench.write(.normal, .red, height, width)
        #expect(try await bench.color(of: bench.image(context)) == nil, "not upright")
    }

    // MARK: Lies and damage

    @Test func `A thumbnail that does not show the file as it is, is not used`() async throws {
        let (file, context) = (try bench.identity(), bench.context(100, 100))
        try bench.write(.normal, .red, 128, 96)
        #expect(try await bench.color(of: bench.image(context)) == .red)
        let lies: [(inout ThumbnailBench.Texts) -> Void] = [
            { $0["Thumb::URI"] = file.uri + "x" }, { $0["Thumb::URI"] = nil }, { $0["Thumb::MTime"] = nil },
            { $0["Thumb::MTime"] = "\(file.modificationTime + 1)" }, { $0["Thumb::MTime"] = "now" },
            { $0["Thumb::Size"] = "\(file.byteCount - 1)" }, { $0["Thumb::Size"] = "" },
        ]
        for (number, lie) in lies.enumerated() {
            try bench.write(.normal, .red, 128, 96, lie)
            #expect(try await bench.color(of: bench.image(context)) == nil, "\(number)")
        }
        try bench.write(.normal, .red, 128, 96) { $0["Thumb::Size"] = "\(file.byteCount)" }
        #expect(try await bench.color(of: bench.image(context)) == .red)
        try bench.write(.normal, .red, 128, 128)
        #expect(try await bench.color(of: bench.image(context)) == nil, "another shape")
        try bench.write(.normal, .red, 256, 192)
        #expect(try await bench.color(of: bench.image(context)) == nil, "too large for its folder")
        try bench.write(.normal, data: Fixtures.data("JPEG/photo.jpg"))
        #expect(try await bench.color(of: bench.image(context)) == nil, "no PNG")
        // The next larger one serves.
        try bench.write(.large, .green, 256, 192)
        #expect(try await bench.color(of: bench.image(context)) == .green)
    }

    @Test func `A thumbnail of the former file is not used`() async throws {
        try bench.write(.normal, .red, 128, 96)
        try bench.setFile(Fixtures.data("JPEG/progressive.jpg"), modified: 1_600_000_001)
        let image = try await bench.image(bench.context(100, 100))
        #expect(try await image.bitmap.pixels == bench.original(bench.context(100, 100)).bitmap.pixels)
    }

    @Test func `Links, pipes and folders in place of a thumbnail are not used`() async throws {
        try bench.write(.normal, .red, 128, 96)
        let (path, other) = (try bench.path(.normal), directory.path("other.png"))
        try #require(rename(path, other) == 0)
        for make in [{ symlink(other, path) }, { mkfifo(path, 0o600) }, { mkdir(path, 0o700) }] {
            try #require(make() == 0)
            #expect(try await bench.color(of: bench.image(bench.context(100, 100))) == nil)
            try #require(remove(path) == 0)
        }
    }

    @Test func `A damaged thumbnail is never shown wrong: the file is decoded instead`() async throws {
        let good = try Fixtures.data("Thumbnails/gnome.png")
        let context = bench.context(150, 150)
        let original = try await bench.original(context).bitmap.pixels
        try bench.write(.large, data: ThumbnailBench.retold(good, bench.identity()))
        let thumbnail = try await bench.image(context).bitmap.pixels
        #expect(thumbnail != original)
        var counts = [0, 0]
        let whole = try ThumbnailBench.retold(good, bench.identity())
        for damaged in TestEffort.some(of: DamagedFiles.corruptions(of: whole) + DamagedFiles.truncations(of: whole)) {
            try bench.write(.large, data: damaged)
            let pixels = try await bench.image(context).bitmap.pixels
            #expect(pixels == original || pixels == thumbnail)
            counts[pixels == original ? 0 : 1] += 1
        }
        #expect(counts[0] > TestEffort.rounds(100))
        // With right checksums the pixels may be any, as if a program had drawn them, but nothing crashes, and the size is right.
        for damaged in TestEffort.some(of: DamagedFiles.corruptions(of: whole, seed: 5)) {
            try bench.write(.large, data: CRC32.repairingPNG(damaged))
            let image = try await bench.image(context)
            #expect((image.pixelWidth, image.pixelHeight) == (150, 113))
        }
    }

    // MARK: Which loads

    @Test func `Loads that ask for more than a small still image decode the file`() async throws {
        try writeAll()
        var refusing = ImageDecodeOptions()
        refusing.refusesDamagedData = true
        let changes: [(WebImageOptions, (inout WebImageContext) -> Void)] = [
            (.fromLoaderOnly, { _ in }), (.refreshCached, { _ in }), (.matchAnimatedImageClass, { _ in }),
            ([], { $0.queryCacheType = .memory }), ([], { $0.cachePolicy = .http }), ([], { $0.decodeToHDR = true }),
            ([], { $0.imageCoder = ImageCodersManager.shared }), ([], { $0.scaleDownLimitBytes = 4 * 50 * 50 }),
            ([], { [refusing] in $0.decodeOptions = refusing }),
            ([], { $0.imageLoader = OtherLoader() }), ([], { $0.thumbnailPixelSize = nil }),
        ]
        for (number, change) in changes.enumerated() {
            var context = bench.context(100, 100)
            change.1(&context)
            #expect(try await bench.color(of: bench.image(context, change.0)) == nil, "\(number)")
        }
        var context = bench.context(100, 100)
        context.page = 1
        await #expect(throws: WebImageError.self) { try await bench.image(context) }
        #expect(try await bench.color(of: bench.image(bench.context(100, 100), .progressiveLoad)) == .red)
        bench.manager.desktopThumbnails = nil
        #expect(try await bench.color(of: bench.image(bench.context(100, 100))) == nil)
    }

    @Test func `A file that may be an animation is read from a thumbnail only for its first frame`() async throws {
        try bench.setFile(Fixtures.data("GIF/photo.gif"))
        let whole = try await bench.original(WebImageContext())
        try bench.write(.xxLarge, .red, whole.pixelWidth, whole.pixelHeight)
        let context = bench.context(whole.pixelWidth / 2, 1000)
        #expect(try await bench.color(of: bench.image(context)) == nil)
        let image = try await bench.image(context, .decodeFirstFrameOnly)
        #expect(bench.color(of: image) == .red && image.metadata.isFirstFrame && image.format == .gif)
    }

    @Test func `A file that is gone or must not be read is an error, whatever its thumbnail shows`() async throws {
        try bench.write(.normal, .red, 128, 96)
        try #require(unlink(bench.file) == 0)
        let error = await #expect(throws: WebImageError.self) { try await bench.image(bench.context(100, 100)) }
        #expect(error?.code == .fileNotFound && error?.url == bench.url)
    }

    @Test func `A thumbnail is not stored as the original, and has the key of the small image`() async throws {
        try bench.write(.normal, .red, 128, 96)
        let context = bench.context(100, 100)
        let result = try await bench.manager.result(with: bench.url, options: .waitStoreCache, context: context)
        #expect(bench.color(of: result.image) == .red && result.cacheType == .disk && result.data == nil)
        #expect(result.cacheKey == bench.manager.cacheKey(for: bench.url, context: context))
        #expect(bench.cache.diskCache.data(forKey: bench.url.absoluteString) == nil)
        #expect(bench.cache.memoryImage(forKey: bench.url.absoluteString) == nil)
        let again = try await bench.manager.result(with: bench.url, context: context)
        #expect(again.cacheType == .memory && again.image === result.image)
        let whole = try await bench.manager.image(with: bench.url)
        #expect(bench.color(of: whole) == nil && whole.pixelWidth == 480)
        // Larger than the image in memory.
        let larger = try await bench.manager.image(with: bench.url, context: bench.context(140, 140))
        #expect(bench.color(of: larger) == nil && larger.pixelWidth == 140)
    }

    @Test func `Transformers are applied to a thumbnail`() async throws {
        try bench.write(.normal, .red, 128, 96)
        var context = bench.context(100, 100)
        context.imageTransformer = .transformer(CroppingTransformer(rect: ImageRect(x: 0, y: 0, width: 10, height: 20)))
        let image = try await bench.image(context)
        #expect(bench.color(of: image) == .red && image.metadata.isTransformed)
        #expect((image.pixelWidth, image.pixelHeight) == (10, 20))
    }

    @Test func `Loads with and without thumbnails share nothing`() async throws {
        try bench.write(.normal, .red, 128, 96)
        let other = WebImageManager(cache: FakeCache(), loader: FileImageLoader.shared)
        let context = bench.context(100, 100)
        async let first = bench.image(context)
        async let second = other.image(with: bench.url, context: context)
        let images = try await (first, second)
        #expect(bench.color(of: images.0) == .red && bench.color(of: images.1) == nil)
    }

    @Test func `Events name the thumbnail`() async throws {
        try bench.write(.normal, .red, 128, 96)
        let recording = LoadRecording()
        var context = bench.context(100, 100)
        context.observer = recording
        _ = try await bench.image(context)
        let path = try bench.path(.normal)
        let isHit = recording.events.contains { if case .diskHit(path, _) = $0.kind { true } else { false } }
        #expect(isHit)
    }

    // MARK: Names

    @Test func `Files have the URLs and names that GLib gives them`() throws {
        let found = try #require(LocalImageFile.location(of: "/tmp/webimage fixtures/./A photo; (1) [ö].jpg"))
        #expect(found.uri == "file:///tmp/webimage%20fixtures/A%20photo%3B%20(1)%20%5B%C3%B6%5D.jpg")
        // As GNOME's library named it; see Scripts/make-fixtures/thumbnails.py.
        #expect(Hashing.md5Hex(found.uri) == "167961edd3807e7a3003e89abe5c53c5")
        #expect(LocalImageFile.location(of: "//a//b/")?.path == "/a/b")
        #expect(LocalImageFile.location(of: "/a/../b") == nil, "with a link, another file")
    }
}

/// Loads files, as a program's own loader.
private final class OtherLoader: ImageLoading {
    func canLoad(_ url: URL, options: WebImageOptions) -> Bool { true }
    func load(
        _ request: ImageLoadRequest,
        progress: @escaping @Sendable (LoadProgress) -> Void,
        completion: @escaping @Sendable (Result<LoadedImageData, WebImageError>) -> Void
    ) -> any ImageLoaderOperation {
        FileImageLoader.shared.load(request, progress: progress, completion: completion)
    }
    func shouldBlockFailedURL(_ url: URL, error: WebImageError) -> Bool { false }
}
