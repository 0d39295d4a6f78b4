import CacheTestSupport
import FoundationEssentials
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageCache
@testable import WebImageLoading

/// Loads of a manager whose images are decoded in workers.
@Suite(
    .enabled(if: IsolationHarness.isSupported, "this system does not confine processes, or this is a sanitized build"),
    .timeLimit(.minutes(3))
)
struct IsolatedLoadTests {
    private let harness = ManagerHarness { url in .success("HAZARD \(url.lastPathComponent)") }

    private func url(_ name: String) throws -> URL { try #require(URL(string: "http://host/\(name)")) }

    private func load(_ name: String, _ context: WebImageContext) async throws -> Result<WebImageResult, WebImageError>
    {
        await harness.start(try url(name), context: context).outcome.value()
    }

    @Test func `The context decides where to decode, then the manager, then this process`() async throws {
        let place = DecodingPlace.isolated(IsolationHarness.isolation())
        let own = harness.context { $0.decoding = place }
        #expect(IsolationHarness.isRight(try await load("one", own).get().image))
        #expect(harness.coder.decodes.isEmpty)
        // The fake coder of this process draws images of another size.
        #expect(try await load("two", harness.context()).get().image.pixelHeight == 2)
        harness.manager.decoding = place
        #expect(harness.manager.decoding == place)
        #expect(IsolationHarness.isRight(try await load("three", harness.context()).get().image))
        #expect(try await load("four", harness.context { $0.decoding = .inProcess }).get().image.pixelHeight == 2)
        harness.manager.decoding = .inProcess
        #expect(harness.manager.parts == nil)
    }

    @Test func `A crash is the error of its load, with the URL, and is not stored`() async throws {
        let context = harness.context { $0.decoding = .isolated(IsolationHarness.isolation()) }
        guard case .failure(let error) = try await load("segfault", context) else {
            Issue.record("it was loaded")
            return
        }
        #expect(error.code == .decoderCrashed)
        #expect(try error.url == url("segfault"))
        #expect(harness.cache.memoryImage(forKey: "http://host/segfault") == nil)
        #expect(harness.cache.diskEntry(forKey: "http://host/segfault") == nil)
        #expect(IsolationHarness.isRight(try await load("good", context).get().image))
    }

    @Test func `Loads of one image share a decode if they decode in the same place`() async throws {
        let isolation = IsolationHarness.isolation()
        let harness = ManagerHarness()
        let context = harness.context { $0.decoding = .isolated(isolation) }
        let (first, second) = (harness.start(context: context), harness.start(context: context))
        await harness.loader.waitForLoads(1)[0].succeed("HAZARD picture")
        #expect(try await first.outcome.image() === second.outcome.image())
    }

    @Test func `The cache and the downloader decode where a context says`() async throws {
        var context = WebImageContext()
        context.imageCoder = PlainCoder()
        context.decoding = .isolated(IsolationHarness.isolation())
        #expect(context.coder() is IsolatedImageCoder)
        let request = ImageLoadRequest(url: try url("x"), context: context)
        #expect(request.coder is IsolatedImageCoder)
        let query = LoadPlan.EntryImage(
            cache: FakeDisk().cache(),
            cacheKey: "key",
            generation: Generations().generation(of: "key"),
            options: [],
            context: context,
            queriesMemory: true
        )
        #expect(query.coder.value is IsolatedImageCoder)
        context.decoding = nil
        #expect(context.coder() is PlainCoder && !context.hasRareProperties)
    }
}
