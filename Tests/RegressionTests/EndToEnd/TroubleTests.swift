import CacheTestSupport
import FoundationEssentials
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@Suite(.tags(.threadSanitizer)) struct TroubleTests {
    /// A server with every kind of failure, and good images at any other path.
    private static func handler() throws -> LoopbackServer.Handler {
        let good = [UInt8](try Fixtures.data("JPEG/baseline-420.jpg"))
        let bomb = PNGBomb.make(width: 30_000, height: 30_000)
        return { request in
            switch request.path {
            case "/truncated.jpg": .truncated(Array(good.prefix(good.count / 2)), declared: good.count)
            case "/short.jpg": .response(body: Array(good.prefix(good.count / 2)))
            case "/missing.jpg": .response(404, body: Array("not here".utf8))
            case "/page.jpg": .response(headers: [("Content-Type", "image/jpeg")], body: Array("<html>".utf8))
            case "/empty.jpg": .response()
            case "/bomb.png": .response(body: bomb)
            case "/loop.jpg": .redirect(to: "/loop.jpg")
            case "/slow.jpg": .slow(interval: 0.05, declared: 10_000)
            case "/silent.jpg": .silence
            default: .response(body: good)
            }
        }
    }

    private static let troubles: [(path: String, code: WebImageError.Code)] = [
        ("/truncated.jpg", .networkConnectionLost), ("/short.jpg", .badImageData),
        ("/missing.jpg", .invalidDownloadStatusCode), ("/page.jpg", .badImageData), ("/empty.jpg", .badImageData),
        ("/bomb.png", .limitExceeded), ("/loop.jpg", .badRedirect), ("/slow.jpg", .timedOut),
        ("/silent.jpg", .timedOut),
    ]

    @Test(arguments: Self.troubles)
    func `Every failure is an error of its kind that names the URL, and leaves nothing in the cache`(
        path: String,
        code: WebImageError.Code
    ) async throws {
        let harness = try EndToEndHarness(Self.handler())
        let start = ContinuousClock.now
        let error = await harness.error(path)
        // Only slow and silent servers take time: 0.4 s without enough bytes, and what the clocks of libcurl add.
        // Without limits, the slow one would take 500 s, and the silent one 30.
        #expect(ContinuousClock.now - start < .seconds(10))
        #expect(error?.code == code)
        #expect(error?.url == harness.server.url(path))
        #expect(error?.message.isEmpty == false)
        await harness.cache.flush()
        #expect(harness.cache.totalDiskCount == 0)
        #expect(await harness.pipeline.becomesIdle())
    }

    @Test func `A dead port is an error at once`() async throws {
        let harness = try EndToEndHarness(Self.handler())
        let dead = try ReservedPort()
        let url = try #require(URL(string: "http://127.0.0.1:\(dead.port)/a.jpg"))
        #expect(await harness.error(url)?.code == .cannotConnectToHost)
    }

    @Test func `Good loads between all the bad ones are served and stored`() async throws {
        let harness = try EndToEndHarness(Self.handler())
        let errors = await withTaskGroup(of: (String, WebImageError?).self) { group in
            for number in 0..<20 { group.addTask { ("good", await harness.error("/good-\(number).jpg")) } }
            for trouble in Self.troubles { group.addTask { ("bad", await harness.error(trouble.path)) } }
            var errors: [(String, WebImageError?)] = []
            for await result in group { errors.append(result) }
            return errors
        }
        #expect(errors.filter { $0.0 == "good" && $0.1 == nil }.count == 20)
        #expect(errors.filter { $0.0 == "bad" && $0.1 != nil }.count == Self.troubles.count)
        await harness.cache.flush()
        #expect(harness.cache.totalDiskCount == 20)
        #expect(harness.cache.diskCache.verify().isEmpty)
    }

    @Test func `Permanent failures are remembered, transient ones are tried again`() async throws {
        let harness = try EndToEndHarness(Self.handler())
        for path in ["/page.jpg", "/missing.jpg", "/truncated.jpg", "/slow.jpg"] { _ = await harness.error(path) }
        #expect(await harness.error("/page.jpg")?.code == .blacklisted)
        #expect(await harness.error("/missing.jpg")?.code == .invalidDownloadStatusCode)
        #expect(await harness.error("/truncated.jpg")?.code == .networkConnectionLost)
        #expect(await harness.error("/slow.jpg")?.code == .timedOut)
    }

    @Test func `A cache directory that cannot be created affects the cache and not the load`() async throws {
        let harness = try EndToEndHarness(cachePath: "/proc/nothing/here", Self.handler())
        #expect(await harness.error("/good.jpg", options: .waitStoreCache) == nil)
        #expect(harness.cache.totalDiskCount == 0)
        #expect(await harness.error("/good.jpg", options: .fromCacheOnly) == nil, "it is in memory")
    }

    @Test(.enabled(if: Mount.isPossible, "needs to mount a small tmpfs, which takes root"))
    func `A full disk affects the cache and not the load`() async throws {
        let mount = try Mount(size: "256k")
        let harness = try EndToEndHarness(cachePath: mount.path, Self.handler())
        let filler = [UInt8](repeating: 1, count: 1 << 20)
        try? Data(filler).write(to: URL(fileURLWithPath: mount.path + "/filler"))
        for number in 0..<30 { #expect(await harness.error("/good-\(number).jpg", options: .waitStoreCache) == nil) }
        #expect(harness.cache.diskCache.verify().isEmpty)
        for entry in harness.cache.diskCache.entries() {
            let stored = await harness.cache.diskData(forKey: entry.key)
            #expect(try stored == Fixtures.data("JPEG/baseline-420.jpg"))
        }
    }

    @Test func `Every kind of source loads`() async throws {
        let harness = try EndToEndHarness(Self.handler())
        let data = try Fixtures.data("JPEG/baseline-420.jpg")
        let urls = [
            harness.server.url("/a.jpg"), URL(fileURLWithPath: Fixtures.path("JPEG/baseline-420.jpg")),
            URL(string: "data:image/jpeg;base64," + data.base64EncodedString()),
            URL(string: "DATA:;base64," + data.base64EncodedString()),
        ]
        for url in urls {
            let image = try await harness.manager.image(with: try #require(url))
            #expect(image.pixelWidth == 61 && image.pixelHeight == 45)
        }
        #expect(await harness.error(try #require(URL(string: "ftp://host/a.jpg")))?.code == .invalidURL)
        #expect(await harness.error(try #require(URL(string: "a.jpg")))?.code == .invalidURL)
    }
}

/// A file system of a few kilobytes.
final class Mount {
    let path: String
    private let directory = TemporaryDirectory()

    static var isPossible: Bool {
        guard let mount = try? Mount(size: "64k") else { return false }
        _ = mount
        return true
    }

    init(size: String) throws {
        path = directory.path
        let run = try ProgramRun("/bin/mount", ["-t", "tmpfs", "-o", "size=\(size)", "tmpfs", path])
        guard run.status == 0 else { throw MountError(message: run.errors) }
    }

    deinit { _ = try? ProgramRun("/bin/umount", ["-l", path]) }
}

struct MountError: Error {
    let message: String
}
