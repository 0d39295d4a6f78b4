import FoundationEssentials
import LoadingTestSupport
import ModelTestSupport
import Testing
import WebImageLoading

private enum Palette: OptionKey { static let defaultValue = 256 }

@Suite(.tags(.addressSanitizer), .timeLimit(.minutes(10))) struct CoderOptionTests {
    private func context(_ harness: ManagerHarness, palette: Int) -> WebImageContext {
        harness.context {
            var decoding = ImageDecodeOptions()
            decoding.values[Palette.self] = palette
            var encoding = ImageEncodeOptions()
            encoding.values[Palette.self] = palette
            $0.decodeOptions = decoding
            $0.encodeOptions = encoding
        }
    }

    @Test func `Coder options reach custom coders, and loads with different ones are not shared`() async throws {
        let harness = ManagerHarness()
        let outcomes = [16, 16, 256].map { harness.start(context: context(harness, palette: $0)).outcome }
        await harness.loader.waitForLoads(1)[0].succeed()
        for outcome in outcomes { _ = try await outcome.image() }
        #expect(
            harness.coder.decodes.map { $0.values[Palette.self] }.sorted() == [16, 256],
            "equal ones share a decode"
        )
        #expect(harness.loader.loads.count == 1)
        _ = try await harness.start(
            options: .waitStoreCache,
            context: {
                var context = context(harness, palette: 16)
                context.imageTransformer = .transformer(FakeTransformer("t"))
                return context
            }()
        ).outcome.image()
        let stored = harness.cache.edit { $0.requests.last { $0.image != nil && $0.cacheType.includesDisk } }
        #expect(stored?.encodeOptions.values[Palette.self] == 16)
    }
}
