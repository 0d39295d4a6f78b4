import FoundationEssentials
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImageLoading

@Suite(.tags(.threadSanitizer)) struct ByteLimitTests {
    private func harness() throws -> EndToEndHarness {
        let body = [UInt8](try Fixtures.data("JPEG/baseline-420.jpg"))
        return try EndToEndHarness { _ in .response(body: body) }
    }

    private func limited(_ bytes: Int) -> WebImageContext {
        var context = WebImageContext()
        context.scaleDownLimitBytes = bytes
        return context
    }

    @Test func `An image scaled down by a byte limit does not serve a load without it`() async throws {
        let harness = try harness()
        let url = harness.server.url("/a.jpg")
        let small = try await harness.manager.result(with: url, context: limited(1_000))
        #expect(small.image.pixelWidth * small.image.pixelHeight * 4 <= 1_000)
        #expect(!small.image.metadata.isThumbnail)
        #expect(try await harness.manager.result(with: url, context: limited(1_000)).cacheType == .memory)
        let whole = try await harness.manager.image(with: url)
        #expect(whole.pixelWidth == 61 && whole.pixelHeight == 45)
        let again = try await harness.manager.result(with: url, context: limited(1_000))
        #expect(again.cacheType == .memory && again.image === whole, "the whole image serves every load")
        #expect(harness.server.requestCount() == 1)
    }

    @Test func `scaleDownLargeImages sets a decode limit of 60 MiB, and the context's own limit overrides it`()
        async throws
    {
        let limit = 60 << 20
        #expect(ImageDecodeOptions.defaultScaleDownLimitBytes == limit)
        let harness = ManagerHarness.answering()
        for (options, own, expected) in [
            ([], nil, 0), (.scaleDownLargeImages, nil, limit), (.scaleDownLargeImages, 8, 8), ([], 8, 8),
        ] as [(WebImageOptions, Int?, Int)] {
            let context = harness.context { if let own { $0.scaleDownLimitBytes = own } }
            let load = harness.start(options: options.union(.fromLoaderOnly), context: context)
            _ = try await load.outcome.image()
            #expect(harness.coder.decodes.last?.scaleDownLimitBytes == expected)
        }
        // The decoders' result.
        var options = ImageDecodeOptions()
        options.scaleDownLimitBytes = limit
        let big = ImageProperties(format: .png, width: 8_000, height: 4_000)
        let plan = try DecodePlan.make(for: big, options: options)
        let bytes = plan.width * plan.height * 4
        #expect(bytes <= limit && bytes > limit * 99 / 100 && !plan.isThumbnail)
    }

    @Test func `The option's limit can be set for the process, and less than a pixel is ignored`()
        async
    {
        await #expect(processExitsWith: .success) {
            let usual = ImageDecodeOptions.defaultScaleDownLimitBytes
            let other = usual - 4
            for (limit, expected) in [(other, other), (3, other), (0, other), (-1, other), (usual, usual)] {
                ImageDecodeOptions.defaultScaleDownLimitBytes = limit
                #expect(ImageDecodeOptions.defaultScaleDownLimitBytes == expected)
                let harness = ManagerHarness.answering()
                _ = try await harness.start(options: [.scaleDownLargeImages, .fromLoaderOnly]).outcome.image()
                #expect(harness.coder.decodes.last?.scaleDownLimitBytes == expected)
            }
        }
    }

    @Test func `A transformed image scaled down by a byte limit is not written to disk under the full-size key`()
        async throws
    {
        let harness = try harness()
        let url = harness.server.url("/a.jpg")
        var context = limited(1_000)
        let size = ImageSize(width: 30, height: 30)
        context.imageTransformer = .transformer(ResizingTransformer(size: size, scaleMode: .fill))
        let result = try await harness.manager.result(with: url, options: .waitStoreCache, context: context)
        #expect(result.image.metadata.scaleDownLimitBytes == 1_000)
        await harness.cache.flush()
        #expect(harness.cache.diskEntry(forKey: result.cacheKey) == nil)
        #expect(harness.cache.diskEntry(forKey: url.absoluteString) != nil)
    }
}
