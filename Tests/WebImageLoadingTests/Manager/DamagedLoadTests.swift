import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageIsolation
@testable import WebImageLoading

/// Loads of damaged images, with files and a real cache.
@Suite(.tags(.addressSanitizer), .timeLimit(.minutes(10))) struct DamagedLoadTests {
    private struct Harness {
        let directory = TemporaryDirectory()
        let cache: ImageCache
        let manager: WebImageManager
        let url: URL

        init(_ name: String) {
            cache = ImageCache(directory: directory.path)
            manager = WebImageManager(cache: cache, loader: FileImageLoader.shared, pipeline: Pipeline())
            url = URL(fileURLWithPath: Fixtures.path(name))
        }

        var key: String { url.absoluteString }

        func result(_ change: (inout WebImageContext) -> Void = { _ in }) async throws -> WebImageResult {
            var context = WebImageContext()
            change(&context)
            return try await manager.result(with: url, options: .waitStoreCache, context: context)
        }
    }

    private static func strict(_ context: inout WebImageContext) {
        var options = ImageDecodeOptions()
        options.refusesDamagedData = true
        context.decodeOptions = options
    }

    @Test func `A damaged image is cached, and marked as damaged wherever it is loaded from`() async throws {
        let harness = Harness("JPEG/damaged-codes.jpg")
        #expect(try await harness.result().image.metadata.isDamaged)
        let hit = try await harness.result()
        #expect(hit.cacheType == .memory && hit.image.metadata.isDamaged)
        harness.cache.memoryCache.removeAll()
        let read = try await harness.result()
        #expect(read.cacheType == .disk && read.image.metadata.isDamaged)
        for _ in 0..<2 {
            harness.cache.memoryCache.removeAll()
            let thumbnail = try await harness.result { $0.thumbnailPixelSize = ImageSize(width: 20, height: 20) }
            #expect(thumbnail.image.metadata.isDamaged && thumbnail.image.metadata.isThumbnail)
        }
    }

    @Test func `If damage is refused it is an error, also for an image in memory or on disk`() async throws {
        let harness = Harness("JPEG/damaged-codes.jpg")
        let error = await #expect(throws: WebImageError.self) { try await harness.result(Self.strict) }
        #expect(error?.code == .badImageData)
        #expect(harness.cache.totalDiskCount == 0)
        let shown = try await harness.result { $0.callbackQueue = .inline }
        #expect(shown.image.metadata.isDamaged)
        #expect(harness.cache.memoryImage(forKey: harness.key) != nil)
        let second = await #expect(throws: WebImageError.self) { try await harness.result(Self.strict) }
        #expect(second?.code == .badImageData)
    }

    @Test func `A worker reports damage`() throws {
        let image = try JPEGCoder().decode(Fixtures.data("JPEG/damaged-codes.jpg"), options: ImageDecodeOptions())
        let reply = IsolationReply(id: 3, answer: .image(IsolatedImage(image)))
        let read = try reply.message.withUnsafeBytes { try IsolationReply($0) }
        guard case .image(let picture) = read.answer else {
            Issue.record("no image")
            return
        }
        #expect(picture.metadata.isDamaged)
        var options = ImageDecodeOptions()
        options.refusesDamagedData = true
        var writer = WireWriter()
        options.write(to: &writer)
        let copy = try writer.bytes.withUnsafeBytes { bytes in
            var reader = WireReader(bytes)
            return try ImageDecodeOptions(from: &reader)
        }
        #expect(copy == options)
    }
}
