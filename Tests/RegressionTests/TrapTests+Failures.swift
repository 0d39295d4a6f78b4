import FoundationEssentials
import HTTPTestSupport
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageLoading

extension TrapTests {
    @Test func `Trap 12: a URL that failed permanently is tried again after its time`() async throws {
        let clock = ManualClock()
        let image = try Fixtures.data("JPEG/baseline-420.jpg")
        let isBroken = Lock(true)
        let loader = StaticLoader { _ in .success(isBroken.withLock { $0 } ? Data("no picture".utf8) : image) }
        let manager = WebImageManager(cache: FakeCache(), loader: loader, pipeline: Pipeline(), clock: clock.source)
        manager.failedURLLifetime = 600
        func code() async -> WebImageError.Code? {
            do throws(WebImageError) {
                _ = try await manager.image(with: testURL("/a"))
                return nil
            } catch {
                return error.code
            }
        }
        #expect(await code() == .unsupportedFormat || manager.isFailed(testURL("/a")))
        for _ in 0..<3 {
            clock.advance(599)
            #expect(await code() == .blacklisted)
            clock.advance(1)
            let known = loader.count
            #expect(await code() != .blacklisted && loader.count == known + 1, "requested again, and it failed again")
        }
        isBroken.withLock { $0 = false }
        #expect(await code() == .blacklisted)
        clock.advance(600)
        #expect(await code() == nil)
        #expect(!manager.isFailed(testURL("/a")))
    }

    @Test func `Trap 12: a transient failure blocks nothing, with no time set`() async throws {
        let image = [UInt8](try Fixtures.data("JPEG/baseline-420.jpg"))
        let transport = FakeTransport()
        let downloader = WebImageDownloader(transport: transport)
        let manager = WebImageManager(cache: FakeCache(), loader: downloader, pipeline: Pipeline())
        let context = WebImageContext.with { $0.callbackQueue = .inline }
        let codes: [WebImageError.Code] = [
            .cannotFindHost, .cannotConnectToHost, .networkConnectionLost, .timedOut,
        ]
        for failure in codes.map(Optional.some) + [nil, nil, nil] {
            let outcome = Outcome()
            manager.loadImage(with: testURL("/a"), context: context) { outcome.record($0) }
            #expect(await becomes { downloader.currentDownloadCount == 1 })
            let transfer = try #require(transport.transfers.last)
            if let failure {
                transfer.end(WebImageError(failure, "for now"))
            } else {
                let status = [404, 500, 503][transport.transfers.count - codes.count - 1]
                transfer.end(transfer.respond(status))
            }
            #expect(await outcome.error() != nil)
            #expect(!manager.isFailed(testURL("/a")), "\(failure?.rawValue ?? transport.transfers.count)")
        }
        let outcome = Outcome()
        manager.loadImage(with: testURL("/a"), context: context) { outcome.record($0) }
        #expect(await becomes { downloader.currentDownloadCount == 1 })
        transport.transfers.last?.complete(image)
        #expect(try await outcome.image().pixelWidth == 61)
    }

    @Test func `Trap 13: a failed URL can be requested again, and success removes it from the list`() async throws {
        let image = try Fixtures.data("JPEG/baseline-420.jpg")
        let isBroken = Lock(true)
        let harness = ImageHarness { _ in .success(isBroken.withLock { $0 } ? image.prefix(300) : image) }
        let (manager, loader, url) = (harness.manager, harness.loader, harness.url)
        func mend(_ isMended: Bool) { isBroken.withLock { $0 = !isMended } }

        #expect(await harness.error()?.code == .badImageData && manager.isFailed(url))
        // Requested again while it still fails: a request is sent, and the URL stays on the list.
        for options in [WebImageOptions.retryFailed, [.retryFailed, .refreshCached], [.retryFailed, .fromLoaderOnly]] {
            let count = loader.count
            #expect(await harness.error(options: options)?.code == .badImageData)
            #expect(loader.count == count + 1 && manager.isFailed(url))
        }
        #expect(await harness.error(options: .refreshCached)?.code == .blacklisted)
        mend(true)
        #expect(await harness.error()?.code == .blacklisted, "nobody has requested it again")
        #expect(await harness.error(options: .retryFailed) == nil)
        #expect(!manager.isFailed(url))
        await harness.cache.clear(.all)
        #expect(await harness.error() == nil, "also without the option")

        mend(false)
        await harness.cache.clear(.all)
        #expect(await harness.error()?.code == .badImageData)
        mend(true)
        manager.removeFailedURL(url)
        #expect(await harness.error() == nil)
    }
}
