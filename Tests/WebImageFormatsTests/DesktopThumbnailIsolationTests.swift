import FoundationEssentials
import TestSupport
import Testing
import WebImage

/// Thumbnails of the desktop, which any program can write, in a manager that decodes in worker processes.
@Suite(
    .enabled(
        if: DecoderProgram.isSupported,
        "this system does not confine processes, or this is a sanitized build"
    ),
    .timeLimit(.minutes(2))
)
struct DesktopThumbnailIsolationTests {
    private final class Hits: WebImageLoadObserver {
        let paths = Lock<[String]>([])

        func loadDid(_ event: WebImageLoadEvent) {
            if case .diskHit(let path, _) = event.kind { paths.withLock { $0.append(path) } }
        }
    }

    @Test func `A thumbnail is decoded in a worker, and without one neither it nor the file is decoded`() async throws {
        let directory = TemporaryDirectory()
        let url = URL(filePath: directory.path("a.jpg"))
        try Fixtures.data("JPEG/photo.jpg").write(to: url)
        let thumbnails = DesktopThumbnailCache(directory: directory.path("thumbnails"))
        let manager = WebImageManager(
            cache: ImageCache(directory: directory.path("cache")),
            loader: FileImageLoader.shared
        )
        let made = try await thumbnails.makeThumbnail(of: url, size: .normal, with: manager)
        manager.desktopThumbnails = thumbnails
        let hits = Hits()
        var context = WebImageContext()
        (context.thumbnailPixelSize, context.observer) = (ImageSize(width: 128, height: 128), hits)
        var isolation = DecodeIsolation(formats: [.png, .jpeg])
        isolation.workerPath = "/nonexistent/decoder"
        manager.decoding = .isolated(isolation)
        let error = await #expect(throws: WebImageError.self) { try await manager.image(with: url, context: context) }
        #expect(error?.code == .decoderUnavailable)
        isolation.workerPath = DecoderProgram.path
        manager.decoding = .isolated(isolation)
        let count = hits.paths.withLock { $0.count }
        let image = try await manager.image(with: url, options: .retryFailed, context: context)
        let path = try #require(hits.paths.withLock { $0 }.dropFirst(count).first)
        #expect(path.hasPrefix(directory.path("thumbnails/normal/")))
        #expect(image.bitmap.components == made.bitmap.components && image.format == .jpeg)
    }
}
