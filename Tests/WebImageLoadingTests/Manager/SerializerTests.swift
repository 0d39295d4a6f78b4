import FoundationEssentials
import LoadingTestSupport
import ModelTestSupport
import Testing
import WebImageLoading

@Suite(.timeLimit(.minutes(1))) struct SerializerTests {
    /// The serializer's arguments.
    private struct Call: Equatable {
        var imageWidth: Int?
        var data: String?
        var url: URL?
    }

    private final class Log: Sendable {
        let calls = Lock<[Call]>([])
        let answer: String?
        init(_ answer: String?) { self.answer = answer }

        var all: [Call] { calls.withLock { $0 } }
        var serializer: CacheSerializer {
            CacheSerializer { [self] image, data, url in
                let text = data.map { String(decoding: $0, as: UTF8.self) }
                calls.withLock { $0.append(Call(imageWidth: image?.pixelWidth, data: text, url: url)) }
                return answer.map { Data($0.utf8) }
            }
        }
    }

    @Test func `The serializer's bytes are written to disk, and the result has the downloaded bytes`() async throws {
        let harness = RefreshHarness("picture", etag: "\"1\"")
        let log = Log("small")
        let context = harness.context { $0.cacheSerializer = log.serializer }
        let result = try await harness.start(.waitStoreCache, context: context).deliveries.all(atLeast: 1)[0].get()
        #expect(result.data == Data("picture".utf8))
        #expect(
            log.all == [Call(imageWidth: 4, data: "picture", url: harness.url)],
            "result and original are one entry"
        )
        let entry = try #require(harness.disk[harness.key])
        #expect(entry.data == Data("small".utf8) && entry.validators?.etag == "\"1\"")
        #expect(entry.validators?.receivedHash == Data("picture".utf8).contentHash)
    }

    @Test func `A later disk hit returns the serialized bytes and their image, and is not serialized again`() async {
        let harness = RefreshHarness("picture")
        let log = Log("small")
        let context = harness.context { $0.cacheSerializer = log.serializer }
        await harness.load(context: context)
        harness.fake.edit { $0.memory = [:] }
        #expect(await harness.start(.waitStoreCache, context: context).deliveries.texts(atLeast: 1) == ["small"])
        #expect(log.all.count == 1 && harness.server.requests.count == 1)
    }

    @Test func `Original and thumbnail are serialized once each`() async throws {
        let harness = RefreshHarness("picture")
        let log = Log("made")
        var context = harness.thumbnail(2)
        context.cacheSerializer = log.serializer
        await harness.load(context: context)
        let calls = [
            Call(imageWidth: nil, data: "picture", url: harness.url), Call(imageWidth: 2, data: nil, url: harness.url),
        ]
        #expect(log.all == calls, "the whole image was not decoded")
        let key = harness.manager.cacheKey(for: harness.url, context: context)
        #expect(harness.disk[key]?.data == Data("made".utf8) && harness.disk[harness.key]?.data == Data("made".utf8))
        #expect(harness.cache.memoryImage(forKey: key)?.pixelWidth == 2)
    }

    @Test(arguments: [nil, ""])
    func `Nil means the bytes that would be stored without a serializer`(answer: String?) async throws {
        let harness = RefreshHarness("picture", etag: "\"1\"")
        let log = Log(answer)
        var context = harness.context { $0.imageTransformer = .transformer(FakeTransformer("t")) }
        context.cacheSerializer = log.serializer
        await harness.load(context: context)
        let key = harness.manager.cacheKey(for: harness.url, context: context)
        #expect(harness.disk[key]?.data == Data("encoded".utf8))
        #expect(harness.disk[harness.key]?.data == Data("picture".utf8))
        #expect(harness.validators == CacheValidators(etag: "\"1\"", lastModified: nil))
        #expect(log.all.map(\.data) == ["picture", nil] && log.all.map(\.imageWidth) == [4, 4])
    }

    @Test func `An image of only the first frame is not passed to the serializer with the whole bytes`() async {
        let harness = RefreshHarness("picture")
        let log = Log("made")
        let context = harness.context { $0.cacheSerializer = log.serializer }
        _ = await harness.start([.waitStoreCache, .decodeFirstFrameOnly], context: context).deliveries.all(atLeast: 1)
        #expect(log.all == [Call(imageWidth: nil, data: "picture", url: harness.url)])
    }

    @Test func `Data that is not written to disk, or is not an image, is not serialized`() async {
        let log = Log("made")
        for (text, type) in [("picture", ImageCacheType.memory), ("bad", .all)] {
            let harness = RefreshHarness(text)
            let context = harness.context {
                $0.cacheSerializer = log.serializer
                $0.storeCacheType = type
                $0.originalStoreCacheType = type == .all ? .disk : ImageCacheType.none
            }
            _ = await harness.start(.waitStoreCache, context: context).deliveries.all(atLeast: 1)
            #expect(harness.disk.isEmpty)
        }
        #expect(log.all.isEmpty)
    }

    @Test func `The context's serializer overrides the manager's`() async {
        let harness = RefreshHarness("picture")
        let (own, other) = (Log("own"), Log("other"))
        harness.manager.cacheSerializer = other.serializer
        await harness.load()
        #expect(harness.disk[harness.key]?.data == Data("other".utf8))
        let context = harness.context { $0.cacheSerializer = own.serializer }
        _ = await harness.start([.fromLoaderOnly, .waitStoreCache], context: context).deliveries.all(atLeast: 1)
        #expect(harness.disk[harness.key]?.data == Data("own".utf8))
        #expect(own.all.count == 1 && other.all.count == 1)
    }

    @Test func `Loads with different serializers share the download, but not the store`() async {
        let harness = RefreshHarness("picture")
        harness.server.edit { $0.isHeld = true }
        let logs = [Log("one"), Log("two")]
        let loads = logs.map { log in
            let serializer = log.serializer
            return harness.start(context: harness.context { $0.cacheSerializer = serializer }).deliveries
        }
        await harness.server.waitForLoads(1)
        harness.server.release()
        for load in loads { #expect(await load.texts(atLeast: 1) == ["picture"]) }
        #expect(harness.server.requests.count == 1 && logs.allSatisfy { $0.all.count == 1 })
    }

    @Test(arguments: [false, true])
    func `A refresh compares the received bytes, not the stored ones`(isThumbnail: Bool) async {
        let harness = RefreshHarness("picture")
        let serializer = Log("made").serializer
        var context = isThumbnail ? harness.thumbnail(2) : harness.context()
        context.cacheSerializer = serializer
        await harness.load(context: context)
        #expect(await harness.start(context: context).deliveries.all(atLeast: 1).count == 1)
        harness.fake.edit { $0.memory = [:] }
        #expect(await harness.start(context: context).deliveries.all(atLeast: 1).count == 1)
        harness.server.publish("another")
        #expect(await harness.start(context: context).deliveries.all(atLeast: 2).count == 2)
    }
}
