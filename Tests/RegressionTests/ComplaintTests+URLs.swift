import CacheTestSupport
import FoundationEssentials
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageLoading

extension ComplaintTests {
    @Test func `Complaint 31: percent-encoded NUL, blanks and empty paths load or fail with an error`() async throws {
        let image = try Fixtures.data("JPEG/baseline-420.jpg")
        let harness = ImageHarness { _ in .success(image) }
        let long = String(repeating: "long/", count: 2_000)
        let texts = [
            "http://host", "http://host/", "http://host//", "http://host/?", "http://host/#", "http://host/%00",
            "http://host/a%00.jpg", "http://host/a.jpg%00.exe", "http://host/a.%00", "http://host/%20%20.png",
            "http://host/a b.jpg", "http://host/ ", "http://host/..%2F..%2Fetc%2Fpasswd", "http://host/../../a.jpg",
            "http://host/a.jpg/..", "http://host/.", "http://host/...", "http://host/a.b/c", "http://host/a.b%2Fc",
            "http://host/\u{1F600}.png", "http://host/%F0%9F%98%80.png", "http://host/%FF%FE.jpg",
            "http://host/\(long)",
            "http://host/a.\(long.replacing("/", with: ""))", "http://host/a.jpg?x=\(long)", "http://host/a.jpg:8",
            "http://host/a.%0A", "http://host/%", "http://host/a%zz.jpg", "HTTP://HOST/A.JPG", "http:///a.jpg", "a.jpg",
            "/a.jpg", "http:", "://", "%00", " ", "\0", "http://host/\0.jpg", "http://[::1]/a.jpg",
        ]
        var files: [String: String] = [:]
        for text in texts {
            let outcome = Outcome()
            harness.manager.loadImage(with: text, options: .waitStoreCache, context: harness.context()) {
                outcome.record($0)
            }
            guard case .success(let result) = await outcome.value() else {
                #expect(await outcome.error()?.code == .invalidURL, "\(text.prefix(80))")
                continue
            }
            #expect(result.image.pixelWidth == 61)
            await harness.cache.flush()
            let key = result.cacheKey
            let path = try #require(harness.cache.cachePath(forKey: key))
            #expect(exists(path), "\(text.prefix(80))")
            let name = try #require(path.split(separator: "/").last)
            #expect(path == harness.cache.diskCachePath + "/" + name && name.utf8.count <= 255 && !path.contains("\0"))
            #expect(files.updateValue(key, forKey: path) ?? key == key, "two keys share a file")
            await harness.cache.clear(.memory)
            let again = try await harness.manager.result(
                with: result.url,
                options: .fromCacheOnly,
                context: harness.context()
            )
            #expect(again.cacheType == .disk && again.data == image, "\(text.prefix(80))")
        }
        #expect(
            files.count > 20
                && names(in: harness.cache.diskCachePath).filter { $0 != "CACHEDIR.TAG" }.count == files.count
        )
        // The library's loaders return an error, and nothing worse.
        let loaders = ImageLoadersManager()
        let manager = WebImageManager(cache: FakeCache(), loader: loaders, pipeline: Pipeline())
        for text in [
            "file:///nul%00l.jpg", "file:///", "file://", "file:", "file:///%2e%2e/%00", "data:", "data:,",
            "data:image/png;base64,%00", "data:;base64,====", "http:///a", "http://", "https://%00/",
            "ftp://host/a.jpg",
        ] {
            guard let url = URL(string: text) else { continue }
            await #expect(throws: WebImageError.self, "\(text)") { try await manager.image(with: url) }
        }
    }
}
