import CWebImageGTK4
import FoundationEssentials
import TestSupport
import Testing
import WebImage

@testable import WebImageLoading

/// Thumbnails shared with GIO and GdkPixbuf, which file managers use.
@Suite struct DesktopThumbnailGIOTests {
    private let directory = TemporaryDirectory()
    private let photo: URL
    private let thumbnails: DesktopThumbnailCache

    init() throws {
        photo = URL(filePath: directory.path("A photo; (1) [ö] #50%.jpg"))
        thumbnails = DesktopThumbnailCache(directory: directory.path("thumbnails"))
        try Fixtures.data("JPEG/photo.jpg").write(to: photo)
    }

    private var manager: WebImageManager {
        let cache = ImageCache(directory: directory.path("cache"))
        return WebImageManager(cache: cache, loader: ImageLoadersManager(loaders: ImageLoadersManager.builtIn))
    }

    /// What GIO tells of the thumbnail of a file.
    private func gio(_ url: URL) async throws -> String {
        let run = try await ProgramRun.run(
            "/usr/bin/gio",
            ["info", "-a", "thumbnail::*", url.path(percentEncoded: false)],
            environment: ["XDG_CACHE_HOME": directory.path, "LC_ALL": "C.UTF-8"]
        )
        #expect(run.status == 0, "\(run.errors)")
        return run.output
    }

    @Test(arguments: DesktopThumbnailCache.Size.allCases) func `GIO finds a thumbnail, and finds it valid`(
        size: DesktopThumbnailCache.Size
    ) async throws {
        try #require(await !gio(photo).contains("thumbnail::path"))
        _ = try await thumbnails.makeThumbnail(of: photo, size: size, with: manager)
        let output = try await gio(photo)
        #expect(output.contains("\(directory.path("thumbnails"))/"), "\(output)")
        #expect(output.contains("thumbnail::is-valid: TRUE") || output.contains("is-valid-\(size.folder): TRUE"))
        try Data("x".utf8).write(to: photo)
        #expect(try await !gio(photo).contains("is-valid: TRUE"))
    }

    @Test func `A thumbnail that GdkPixbuf wrote is read, as GNOME's programs write it`() async throws {
        let file = try LocalImageFile(photo).identity
        let path = thumbnails.path(of: file, .large)
        let folder = URL(filePath: path).deletingLastPathComponent()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let pixels = try #require(gdk_pixbuf_new(GDK_COLORSPACE_RGB, 0, 8, 256, 192))
        defer { g_object_unref(UnsafeMutableRawPointer(pixels)) }
        gdk_pixbuf_fill(pixels, 0xFF00_00FF)
        let texts = [("tEXt::Thumb::URI", file.uri), ("tEXt::Thumb::MTime", "\(file.modificationTime)")]
        var (keys, values) = (texts.map { strdup($0.0) } + [nil], texts.map { strdup($0.1) } + [nil])
        defer { for text in keys + values { free(text) } }
        try #require(gdk_pixbuf_savev(pixels, path, "png", &keys, &values, nil) != 0)
        let manager = manager
        manager.desktopThumbnails = thumbnails
        var context = WebImageContext()
        context.thumbnailPixelSize = ImageSize(width: 200, height: 200)
        let image = try await manager.image(with: photo, context: context)
        #expect(image.pixelWidth == 200 && image.pixelHeight == 150)
        #expect(Set(image.bitmap.pixels) == [0xFF, 0])
        context.thumbnailPixelSize = ImageSize(width: 300, height: 300)
        #expect(try await Set(manager.image(with: photo, context: context).bitmap.pixels).count > 2)
    }

    @Test func `URLs of files are those of GLib, for each character`() throws {
        let names = (1..<0x80).compactMap { Unicode.Scalar($0) }.filter { $0 != "/" }.map { "x\($0)y" }
        for name in names + ["ä", "日本", "a b%20c", "e\u{301}"] {
            let path = directory.path(name)
            let expected = try #require(g_filename_to_uri(path, nil, nil))
            defer { g_free(expected) }
            #expect(LocalImageFile.location(of: path)?.uri == String(cString: expected))
            #expect(try LocalImageFile.location(of: FileImageLoader.path(of: URL(filePath: path)))?.path == path)
        }
    }
}
