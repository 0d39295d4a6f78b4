import FoundationEssentials
import HTTPTestSupport
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageCache
@testable import WebImageCodecs
@testable import WebImageLoading

/// A response to one user is not served to another: with a server that shows each an image of another size.
@Suite(.tags(.threadSanitizer), .timeLimit(.minutes(10))) struct RightsTests {
    private static let widths = ["Bearer ann": 2, "Bearer ben": 5, "nobody": 1]

    private static func user(_ request: LoopbackRequest) -> String {
        request.header("Authorization") ?? request.header("Cookie") ?? request.header("X-Api-Key") ?? "nobody"
    }

    private func harness(cachePath: String? = nil, gate: Gate? = nil, control: String = "private, max-age=600") throws
        -> EndToEndHarness
    {
        let bodies = try [
            "Bearer ann": "PNG/tiny-2x3.png", "Bearer ben": "PNG/tiny-5x1.png", "nobody": "PNG/tiny-1x1.png",
        ].mapValues { [UInt8](try Fixtures.data($0)) }
        return try EndToEndHarness(cachePath: cachePath, config: WebImageDownloaderConfig()) { request in
            let answer = LoopbackResponse.response(
                headers: [("Cache-Control", control), ("ETag", "\"same\"")],
                body: bodies[Self.user(request)] ?? []
            )
            return gate.map { .delayed($0, then: answer) } ?? answer
        }
    }

    private func context(
        _ user: String?,
        field: String = "Authorization",
        _ change: (inout WebImageContext) -> Void = { _ in }
    )
        -> WebImageContext
    {
        var context = WebImageContext()
        if let user { context.additionalHeaders[field] = user }
        change(&context)
        return context
    }

    private func width(_ harness: EndToEndHarness, _ context: WebImageContext?, options: WebImageOptions = [])
        async throws -> Int
    {
        let result = try await harness.manager.result(
            with: harness.server.url("/a@2x.png"),
            options: options,
            context: context
        )
        return result.image.pixelWidth
    }

    @Test(
        arguments: ["private, max-age=600", "no-store", "public, max-age=600"],
        ["Authorization", "Cookie", "X-Api-Key"]
    )
    func `Each user gets their own image, from the network, from memory and from disk`(control: String, field: String)
        async throws
    {
        let harness = try harness(control: control)
        for policy in [CachePolicy.immutable, .http] {
            for _ in 0..<2 {
                for (user, width) in Self.widths.sorted(by: { $0.key < $1.key }) {
                    let context = context(user == "nobody" ? nil : user, field: field) { $0.cachePolicy = policy }
                    #expect(try await self.width(harness, context) == width, "\(user)")
                    var fromDisk = context
                    fromDisk.queryCacheType = .disk
                    #expect(try await self.width(harness, fromDisk) == width, "\(user)")
                    #expect(try await self.width(harness, context, options: .refreshCached) == width, "\(user)")
                }
            }
        }
    }

    @Test func `An image that a user has loaded is served again, and not loaded`() async throws {
        let harness = try harness()
        for user in ["Bearer ann", "Bearer ben", "Bearer ann", "Bearer ben"] {
            _ = try await width(harness, context(user))
        }
        #expect(harness.server.requestCount() == 2)
    }

    @Test func `Concurrent loads of two users do not share`() async throws {
        let gate = Gate()
        let harness = try harness(gate: gate)
        async let ann = width(harness, context("Bearer ann"))
        async let ben = width(harness, context("Bearer ben"))
        async let nobody = width(harness, nil)
        #expect(await gate.arrivals(3))
        gate.open()
        #expect(try await [ann, ben, nobody] == [2, 5, 1])
    }

    @Test func `When the downloader's own field changes, the next user does not get the last one's images`()
        async throws
    {
        let harness = try harness()
        for user in ["Bearer ann", "Bearer ben", "Bearer ann"] {
            harness.downloader.setValue(user, forHTTPHeaderField: "Authorization")
            #expect(try await width(harness, nil) == Self.widths[user])
        }
        harness.downloader.setValue(nil, forHTTPHeaderField: "Authorization")
        #expect(try await width(harness, nil) == 1)
        #expect(harness.server.requestCount() == 3)
    }

    @Test func `A load that waits while the user changes is not stored as the former user's`() async throws {
        let harness = try harness()
        harness.downloader.setValue("Bearer ann", forHTTPHeaderField: "Authorization")
        harness.downloader.isSuspended = true
        let url = harness.server.url("/a@2x.png")
        async let waiting = harness.manager.result(with: url)
        #expect(await becomes { harness.downloader.currentDownloadCount > 0 })
        harness.downloader.setValue("Bearer ben", forHTTPHeaderField: "Authorization")
        harness.downloader.isSuspended = false
        #expect(try await waiting.image.pixelWidth == 5)
        harness.downloader.setValue("Bearer ann", forHTTPHeaderField: "Authorization")
        #expect(try await width(harness, nil) == 2)
    }

    @Test func `Thumbnails and transformed images are separate for each user, too`() async throws {
        let harness = try harness()
        func context(_ user: String) -> WebImageContext {
            self.context(user) {
                $0.thumbnailPixelSize = ImageSize(width: 1, height: 1)
                $0.imageTransformer = .transformer(FlippingTransformer(horizontal: true, vertical: false))
            }
        }
        let keys = ["Bearer ann", "Bearer ben"].map { user in
            harness.manager.cacheKey(for: harness.server.url("/a.png"), context: context(user))
        }
        #expect(Set(keys).count == 2 && keys.allSatisfy { $0.contains("-Thumbnail(") && $0.contains(".png# rights=") })
    }

    // MARK: Keys

    @Test func `Without such fields keys are unchanged`() throws {
        let manager = WebImageManager(cache: FakeCache(), loader: WebImageDownloader(), pipeline: Pipeline())
        let url = try #require(URL(string: "http://host/a@2x.jpg?x=1"))
        #expect(manager.cacheKey(for: url) == url.absoluteString)
        let context = context("de", field: "Accept-Language")
        #expect(manager.cacheKey(for: url, context: context) == url.absoluteString)
    }

    @Test func `A key contains no secret, keeps scale and extension, and does not depend on the fields' order`() throws
    {
        let manager = WebImageManager(cache: FakeCache(), loader: WebImageDownloader(), pipeline: Pipeline())
        let url = try #require(URL(string: "http://host/a@2x.jpg"))
        let key = manager.cacheKey(for: url, context: context("Bearer s3cret"))
        #expect(key.hasPrefix("http://host/a@2x.jpg# rights=") && !key.contains("s3cret"))
        #expect(ImageScaleFactor.forKey(key) == 2 && CacheFileName(key: key).string.hasSuffix(".jpg"))
        #expect(manager.cacheKey(for: url, context: context("Bearer other")) != key)
        func both(_ names: [String]) -> WebImageContext {
            var context = WebImageContext()
            context.additionalHeaders = HTTPHeaders(pairs: names.map { ($0, "1") })
            return context
        }
        let one = manager.cacheKey(for: url, context: both(["Authorization", "Cookie"]))
        #expect(one == manager.cacheKey(for: url, context: both(["cookie", "authorization"])))
        #expect(URL(string: key)?.absoluteString != key, "no URL makes this key")
    }

    @Test func `A key filter's key has the digest, too, and so has that of a downloader with a credential`() throws {
        let downloader = WebImageDownloader()
        let manager = WebImageManager(cache: FakeCache(), loader: downloader, pipeline: Pipeline())
        let url = try #require(URL(string: "http://host/a.jpg"))
        let filtered = context("Bearer 1") { $0.cacheKeyFilter = CacheKeyFilter { _ in "one" } }
        #expect(manager.cacheKey(for: url, context: filtered).hasPrefix("one# rights="))
        downloader.config.urlCredential = WebImageCredential(user: "u", password: "p")
        #expect(manager.cacheKey(for: url).hasPrefix("http://host/a.jpg# rights="))
        downloader.config.urlCredential = nil
        #expect(manager.cacheKey(for: url) == "http://host/a.jpg")
    }
}
