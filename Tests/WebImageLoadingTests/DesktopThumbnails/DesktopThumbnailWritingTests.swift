import FoundationEssentials
import Glibc
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageLoading
@testable import WebImageModel

/// Thumbnails written for the programs of a desktop. What GIO reads of them is tested with the views.
@Suite(.tags(.threadSanitizer, .addressSanitizer), .timeLimit(.minutes(2))) struct DesktopThumbnailWritingTests {
    private let bench: ThumbnailBench

    init() throws { bench = try ThumbnailBench() }

    private var thumbnails: DesktopThumbnailCache { bench.thumbnails }

    private func make(_ size: DesktopThumbnailCache.Size = .large) async throws -> Image {
        try await thumbnails.makeThumbnail(of: bench.url, size: size, with: bench.manager)
    }

    private func mode(_ path: String) -> mode_t? {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_mode & 0o7777 : nil
    }

    private func files() -> [String] {
        let all = (try? FileManager.default.subpathsOfDirectory(atPath: bench.directory.path("thumbnails"))) ?? []
        return all.filter { $0.contains(".") && !$0.hasSuffix(".0") }
    }

    @Test func `A thumbnail is written with what identifies the file, for the user only`() async throws {
        let image = try await make()
        #expect((image.pixelWidth, image.pixelHeight) == (256, 192))
        let (file, path) = (try bench.identity(), try bench.path(.large))
        let data = try Data(contentsOf: URL(filePath: path))
        let all: Set = [
            "Thumb::URI", "Thumb::MTime", "Thumb::Size", "Thumb::Mimetype", "Thumb::Image::Width",
            "Thumb::Image::Height",
            "Software",
        ]
        let texts = try #require(PNGTexts(data, keywords: all))
        #expect(texts["Thumb::URI"] == file.uri && texts["Thumb::MTime"] == "1600000000")
        #expect(texts["Thumb::Size"] == "\(file.byteCount)" && texts["Thumb::Mimetype"] == "image/jpeg")
        #expect(texts["Thumb::Image::Width"] == "480" && texts["Thumb::Image::Height"] == "360")
        #expect(texts["Software"] == "WebImage \(LibraryVersion.current)")
        let written = try PNGCoder().decode(data, options: ImageDecodeOptions())
        #expect(written.bitmap.pixels == image.bitmap.pixels)
        #expect(mode(path) == 0o600 && files().count == 1)
        for folder in ["", "/large"] { #expect(mode(bench.directory.path("thumbnails") + folder) == 0o700) }
        // Loads read it.
        let small = try await bench.image(bench.context(256, 256))
        #expect(small.bitmap.pixels == image.bitmap.pixels)
        #expect(
            bench.cache.diskCache.data(forKey: bench.url.absoluteString) == nil,
            "the manager's cache is not changed"
        )
    }

    @Test func `An existing thumbnail is returned, and replaced if it is damaged or of another version of the file`()
        async throws
    {
        try bench.write(.large, .red, 256, 192)
        #expect(try await bench.color(of: make()) == .red)
        try bench.write(.large, .red, 256, 192) { $0["Thumb::MTime"] = "1" }
        #expect(try await bench.color(of: make()) == nil)
        try bench.write(.large, .red, 256, 192)
        let whole = try Data(contentsOf: URL(filePath: bench.path(.large)))
        var damaged = whole
        damaged[whole.count - 30] ^= 0xFF
        try bench.write(.large, data: damaged)
        let made = try await make()
        #expect(bench.color(of: made) == nil)
        #expect(try await make().bitmap.pixels == made.bitmap.pixels)
    }

    @Test func `A file that cannot be decoded is noted, and tried again once it has changed`() async throws {
        try bench.setFile(Data("no image".utf8))
        let first = await #expect(throws: WebImageError.self) { try await make() }
        #expect(first?.url == bench.url && first?.code == .badImageData || first?.code == .unsupportedFormat)
        let noted = try #require(files().first)
        #expect(noted.hasPrefix("fail/webimage-\(LibraryVersion.current)/") && files().count == 1)
        #expect(mode(bench.directory.path("thumbnails/" + noted)) == 0o600)
        let data = try Data(contentsOf: URL(filePath: bench.directory.path("thumbnails/" + noted)))
        #expect(try PNGCoder().decode(data, options: ImageDecodeOptions()).pixelWidth == 1)
        // The same time and number of bytes: it is not looked at.
        let photo = try Fixtures.data("JPEG/photo.jpg")
        try bench.setFile(photo.prefix(8))
        let second = await #expect(throws: WebImageError.self) { try await make() }
        #expect(second?.code == .badImageData && second?.url == bench.url)
        #expect(second?.message == "the file is noted as one without thumbnail")
        try bench.setFile(photo)
        #expect(try await make().pixelWidth == 256)
        // Loads do not ask whether a thumbnail has failed.
        #expect(try await bench.image(bench.context(100, 100)).pixelWidth == 100)
    }

    @Test func `Nothing is written for a thumbnail, or where nothing can be written`() async throws {
        _ = try await make(.normal)
        let own = URL(filePath: try bench.path(.normal))
        let image = try await thumbnails.makeThumbnail(of: own, size: .large, with: bench.manager)
        #expect(image.pixelWidth == 128 && files().count == 1)
        try Data().write(to: URL(filePath: bench.directory.path("file")))
        let blocked = DesktopThumbnailCache(directory: bench.directory.path("file/thumbnails"))
        #expect(try await blocked.makeThumbnail(of: bench.url, size: .large, with: bench.manager).pixelWidth == 256)
    }

    @Test func `A file that is gone, remote or no file is an error, and is not noted`() async throws {
        for text in ["file:///none/none.jpg", "file://host/a.jpg", "http://127.0.0.1:1/a.jpg", "file:///tmp"] {
            let url = try #require(URL(string: text))
            await #expect(throws: WebImageError.self, "\(text)") {
                try await thumbnails.makeThumbnail(of: url, size: .large, with: bench.manager)
            }
        }
        #expect(files().isEmpty)
    }

    @Test func `Small images are not enlarged, and turned ones are upright`() async throws {
        try bench.setFile(Fixtures.data("JPEG/orientation-6.jpg"))
        let whole = try await bench.original(WebImageContext())
        let image = try await make(.xxLarge)
        #expect((image.pixelWidth, image.pixelHeight) == (whole.pixelWidth, whole.pixelHeight))
        let data = try Data(contentsOf: URL(filePath: bench.path(.xxLarge)))
        let texts = try #require(PNGTexts(data, keywords: ["Thumb::Image::Width", "Thumb::Image::Height"]))
        #expect(texts["Thumb::Image::Width"] == "\(whole.pixelWidth)")
        #expect(texts["Thumb::Image::Height"] == "\(whole.pixelHeight)")
    }
}
