import FoundationEssentials
import Glibc
import ModelTestSupport
import TestSupport
import Testing
import WebImage
import WebImageFormats

/// Stills of videos on a widely used server, of which parts are requested.
@Suite(
    .enabled(
        if: DecoderProgram.isSupported && NginxServer.isInstalled,
        "this system does not confine processes, has no nginx, or this is a sanitized build"
    ),
    .timeLimit(.minutes(2))
)
struct VideoServerTests {
    private let directory = TemporaryDirectory()
    private let downloader = WebImageDownloader()

    private struct Line {
        let bytes: Int
        let status: String
        let range: String
    }

    private func server(_ files: [String: [UInt8]] = [:]) async throws -> NginxServer {
        let server = try await NginxServer(
            files: files,
            locations:
                "location /whole/ { alias \(directory.path("films"))/; max_ranges 0; } location /films/ { alias \(directory.path("films"))/; }",
            logFormat: "$body_bytes_sent $status $http_range"
        )
        return server
    }

    private func film(_ byteCount: Int = 2 << 30) throws {
        try FileManager.default.createDirectory(atPath: directory.path("films"), withIntermediateDirectories: true)
        _ = try SparseVideo.make(in: directory, at: "films/film.mp4", byteCount: byteCount)
    }

    private func lines(_ server: NginxServer, _ count: Int) async -> [Line] {
        await server.log(count: count).map { line in
            let words = line.split(separator: " ").map(String.init)
            return Line(bytes: Int(words[0]) ?? .max, status: words[1], range: words.count > 2 ? words[2] : "")
        }
    }

    private func manager() -> WebImageManager {
        WebImageManager(cache: ImageCache(directory: directory.path("cache")), loader: downloader)
    }

    private func context(_ time: Double? = 1.1) -> WebImageContext {
        var context = WebImageContext()
        let coders = ImageCodersManager()
        WebImageFormats.registerAll(in: coders)
        context.imageCoder = coders
        context.videoTime = time
        return context
    }

    private func isExpected(_ image: Image, _ tolerance: Double = 0.3) throws -> Bool {
        PixelDifference(image.bitmap, try Fixtures.pixels("Video/h264.mp4-1.1.ppm")).mean <= tolerance
    }

    @Test func `A still of a film with its index at the end costs less than 4 MiB`() async throws {
        try film()
        let server = try await server()
        let manager = manager()
        let image = try await manager.image(with: server.url("/films/film.mp4"), context: context())
        #expect(try isExpected(image))
        let lines = await lines(server, 2)
        let total = lines.reduce(0) { $0 + $1.bytes }
        #expect(lines.count >= 2 && lines.allSatisfy { $0.status == "206" && $0.range.hasPrefix("bytes=") })
        #expect(total < 1 << 20, "\(total)")
        await (manager.imageCache as? ImageCache)?.flush()
        var stored = 0
        for name in try FileManager.default.subpathsOfDirectory(atPath: directory.path("cache")) {
            stored += FileManager.default.contents(atPath: directory.path("cache/" + name))?.count ?? 0
        }
        #expect(stored < 32 << 10)
        // From the disk cache.
        let again = self.manager()
        #expect(try isExpected(await again.image(with: server.url("/films/film.mp4"), context: context()), 4))
        #expect(await self.lines(server, lines.count).count == lines.count)
        // Another time is another still.
        _ = try await again.image(with: server.url("/films/film.mp4"), context: context(0.3))
        #expect(await self.lines(server, lines.count + 1).count > lines.count)
    }

    @Test func `From a server without ranges, only the beginning is read`() async throws {
        try film()
        downloader.config.maximumVideoByteCount = 1 << 20
        let server = try await server()
        let error = await #expect(throws: WebImageError.self) {
            try await manager().image(with: server.url("/whole/film.mp4"), context: context())
        }
        #expect(error?.code == .limitExceeded && error?.limit?.name == "maximumVideoByteCount", "\(error as Any)")
        let lines = await lines(server, 1)
        // The server has sent what the system buffers beyond that.
        #expect(lines.count == 1 && lines[0].status == "200" && lines[0].bytes < 64 << 20)
        try Fixtures.data("Video/faststart.mp4").write(to: URL(filePath: directory.path("films/short.mp4")))
        #expect(try isExpected(await manager().image(with: server.url("/whole/short.mp4"), context: context())))
    }

    @Test func `A frame far behind its keyframe costs what is between them, and more than the limit is an error`()
        async throws
    {
        let data = try Fixtures.data("Video/one-group.mp4")
        let server = try await server(["a.mp4": Array(data)])
        downloader.config.maximumVideoByteCount = data.count
        let image = try await manager().image(with: server.url("/a.mp4"), context: context(1.9))
        let expected = try await VideoHarness.file("one-group.mp4", at: 1.9)
        #expect(image.premultipliedPixels == expected.premultipliedPixels)
        downloader.config.maximumVideoByteCount = data.count - 300
        let error = await #expect(throws: WebImageError.self) {
            try await manager().image(with: server.url("/a.mp4"), options: .fromLoaderOnly, context: context(1.9))
        }
        #expect(error?.code == .limitExceeded && error?.limit?.name == "maximumVideoByteCount", "\(error as Any)")
    }

    @Test func `A still is revalidated by a conditional request for a part`() async throws {
        try film(1 << 20)
        let server = try await server()
        let manager = manager()
        let url = server.url("/films/film.mp4")
        _ = try await manager.image(with: url, context: context())
        await (manager.imageCache as? ImageCache)?.flush()
        let count = await lines(server, 2).count
        let image = try await manager.image(with: url, options: .refreshCached, context: context())
        let lines = await lines(server, count + 1)
        #expect(lines.count == count + 1 && lines.last?.status == "304")
        #expect(image.pixelWidth == 96)
    }

    @Test func `Callers that want the bytes get all of them`() async throws {
        let data = try Fixtures.data("Video/h264.mp4")
        let server = try await server(["a.mp4": Array(data)])
        #expect(try await downloader.downloadData(with: server.url("/a.mp4")).data == data)
        #expect(try await manager().data(with: server.url("/a.mp4")) == data)
        #expect(await lines(server, 2).allSatisfy { $0.status == "200" && $0.range == "-" })
        // Also if a still of it is in the caches.
        let manager = manager()
        _ = try await manager.image(with: server.url("/a.mp4"), context: context(nil))
        await (manager.imageCache as? ImageCache)?.flush()
        #expect(try await manager.data(with: server.url("/a.mp4")) == data)
    }

    @Test func `An image with the name of a video is loaded`() async throws {
        let image = try Fixtures.data("JPEG/baseline-420.jpg")
        let large = Array(image + Data(count: 200_000))
        let server = try await server(["a.mp4": Array(image), "b.mov": large])
        for name in ["/a.mp4", "/b.mov"] {
            let loaded = try await manager().image(with: server.url(name), context: context())
            #expect(loaded.format == .jpeg)
        }
        #expect(try await manager().image(with: server.url("/a.mp4"), context: context()).format == .jpeg)
    }

    @Test func `A policy applies to videos: their address, and whether they are accepted`() async throws {
        try film(1 << 20)
        let server = try await server()
        let url = server.url("/films/film.mp4")
        downloader.config.sourcePolicy = .untrusted
        var error = await #expect(throws: WebImageError.self) {
            try await manager().image(with: url, context: context())
        }
        #expect(error?.code == .sourceRefused)
        downloader.config.sourcePolicy.allowed = [SourceRule("127.0.0.1:\(url.port ?? 0)")].compactMap { $0 }
        error = await #expect(throws: WebImageError.self) { try await manager().image(with: url, context: context()) }
        #expect(error?.code == .unsupportedFormat && error?.message.contains("MP4") == true, "\(error as Any)")
        downloader.config.sourcePolicy.formats.formUnion(ImageFormat.videos)
        #expect(try isExpected(await manager().image(with: url, context: context())))
    }
}
