import FoundationEssentials
import LoadingTestSupport
import ModelTestSupport
import Testing

@testable import WebImageLoading

@Suite(.timeLimit(.minutes(1))) struct FetchWorkTests {
    private let url = URL(string: "http://host/picture.png")!

    @Test func `A loader that does not serve the URL is not asked to`() async {
        let harness = RefreshHarness("picture")
        harness.server.edit { $0.serves = false }
        #expect(await harness.start([]).deliveries.texts(atLeast: 1) == ["error 1000"])
        #expect(harness.server.requests.isEmpty && !harness.manager.isFailed(harness.url))
        #expect(await harness.manager.pipeline.becomesIdle())
        harness.put("old")
        #expect(await harness.start([]).deliveries.texts(atLeast: 1) == ["old"], "the caches are queried all the same")
    }

    @Test func `A conditional load is not shared with a plain one, and keeps its other fields`() {
        let plain = FetchWork(url: url, loader: FakeLoader(), options: .handleCookies, headers: ["X-A": "b"])
        let both = CacheValidators(etag: "\"1\"", lastModified: "then")
        let conditional = plain.conditional(on: both)
        #expect(conditional.key != plain.key && conditional.plan.value.options == .handleCookies)
        let fields: HTTPHeaders = ["X-A": "b", "If-None-Match": "\"1\"", "If-Modified-Since": "then"]
        #expect(conditional.headers == fields)
        #expect(conditional.key == plain.conditional(on: both).key, "two refreshes are one")
    }

    @Test func `Without validators a refresh is a plain load`() {
        let plain = FetchWork(url: url, loader: FakeLoader(), options: [])
        #expect(plain.conditional(on: nil).key == plain.key)
        #expect(plain.conditional(on: CacheValidators(etag: nil, lastModified: nil, receivedHash: 7)).key == plain.key)
    }

    @Test(arguments: ["if-none-match", "IF-MODIFIED-SINCE"])
    func `Existing conditions stay unchanged`(name: String) {
        let own = FetchWork(url: url, loader: FakeLoader(), options: [], headers: [:])
        #expect(own.headers.fields.isEmpty)
        var headers = HTTPHeaders()
        headers[name] = "mine"
        let work = FetchWork(url: url, loader: FakeLoader(), options: [], headers: headers)
        #expect(work.conditional(on: CacheValidators(etag: "\"1\"", lastModified: nil)).key == work.key)
    }

    @Test func `A plain load and a refresh do not share the data, and the serializer counts if bytes are stored`() {
        let (cache, fetch) = (FakeCache(), FetchWork(url: url, loader: FakeLoader(), options: []))
        func work(_ stores: Bool, refreshes: Bool = false, _ serializer: CacheSerializer? = nil) -> WorkKey {
            let plan = LoadPlan.Original(
                fetch: fetch.plan,
                cache: cache,
                cacheKey: "k",
                queriesDisk: true,
                storesDisk: stores,
                revalidation: refreshes
                    ? LoadPlan.Revalidation(asksAlways: true, policy: .immutable, request: HTTPCacheRequest()) : nil,
                serializer: serializer
            )
            return OriginalWork(plan: Boxed(plan)).key
        }
        let serializer = CacheSerializer { _, _, _ in nil }
        #expect(work(true) == work(true) && work(true) != work(true, refreshes: true))
        #expect(work(true, serializer) != work(true) && work(false, serializer) == work(false))
    }

    @Test func `The hash of bytes is never the value that stands for unknown`() {
        #expect(Data().contentHash != 0 && Data([1]).contentHash != Data([2]).contentHash)
        let entry = CachedImageData(data: Data([1]))
        #expect(entry.sourceHash == Data([1]).contentHash && entry.source.validators == nil)
        let validators = CacheValidators(etag: nil, lastModified: nil, receivedHash: 9)
        #expect(CachedImageData(data: Data([1]), validators: validators).sourceHash == 9)
    }
}
