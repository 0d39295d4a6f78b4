import FoundationEssentials
import Glibc
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageCache
@testable import WebImageCodecs
@testable import WebImageHTTP
@testable import WebImageLoading

/// Interrupting servers over real sockets, with real files: whatever they do next, the result is the server's image.
@Suite(.timeLimit(.minutes(60))) struct ResumeOverNetworkTests {
    private let directory = TemporaryDirectory()

    private func downloader(retries: Int = 0) -> WebImageDownloader {
        var config = WebImageDownloaderConfig()
        config.partialDownloadDirectory = directory.path("partial")
        config.retryPolicy.maximumRetryCount = retries
        config.retryPolicy.baseDelay = 0.001
        return WebImageDownloader(config: config)
    }

    /// The offsets at which bodies are interrupted: some, and with `WEBIMAGE_EVERY_BYTE` at all.
    private static let cuts: [Int] = {
        let edges = [0, 1, 4095, 4096, 4097, 8191, 8192, 8193, CutServer.byteCount - 1, CutServer.byteCount]
        if getenv("WEBIMAGE_EVERY_BYTE") != nil { return Array(0...CutServer.byteCount) }
        return Set(edges + stride(from: 0, through: CutServer.byteCount, by: 2503)).sorted()
    }()

    @Test(arguments: CutServer.Behaviour.allCases)
    func `After an interruption the result is the server's image`(behaviour: CutServer.Behaviour) async throws {
        let server = try CutServer(behaviour)
        let downloader = downloader()
        for cut in Self.cuts {
            let url = server.url(cut)
            let isWhole = cut == CutServer.byteCount && behaviour != .gzip
            _ = await downloadError(downloader, url)
            // A body too short to be kept is requested whole, and is not interrupted again.
            if behaviour == .breaksOffAgain, cut >= PartialRules.leastByteCount {
                _ = await downloadError(downloader, url)
            }
            let loaded = try await downloader.downloadData(with: url)
            #expect([UInt8](loaded.data) == server.current, "cut after \(cut)")
            let isAsked = behaviour.isKept && cut >= PartialRules.leastByteCount && !isWhole
            #expect(server.ranges(url).isEmpty == !isAsked, "cut after \(cut)")
            if isAsked {
                #expect(server.ranges(url).first == "bytes=\(cut - 4096)-")
                #expect((loaded.metrics?.resumedByteCount ?? 0 > 0) == behaviour.isResumable, "cut after \(cut)")
            }
            // An image interrupted twice has the overlap requested twice.
            let extra = behaviour == .breaksOffAgain ? 4096 : 0
            if behaviour.isResumable, !isWhole {
                #expect(server.sentByteCount(url) <= CutServer.byteCount + 8192 + extra, "cut after \(cut)")
            }
        }
        await flush(downloader)
        let store = try #require(downloader.core.partials as? PartialDownloads)
        let left = (try? FileManager.default.contentsOfDirectory(atPath: store.path)) ?? []
        #expect(left.allSatisfy { !CacheFileName.isEntryName($0.utf8) }, "nothing is left")
    }

    @Test func `Retries resume automatically`() async throws {
        let server = try CutServer(.breaksOffAgain)
        let url = server.url(30_000)
        let loaded = try await downloader(retries: 2).downloadData(with: url)
        #expect([UInt8](loaded.data) == CutServer.first)
        #expect(loaded.metrics?.attemptCount == 3 && server.ranges(url) == ["bytes=25904-", "bytes=27808-"])
    }

    @Test func `Another downloader with the same directory resumes`() async throws {
        let server = try CutServer(.strongTag)
        let url = server.url(30_000)
        _ = await downloadError(downloader(), url)
        let loaded = try await downloader().downloadData(with: url)
        #expect([UInt8](loaded.data) == CutServer.first && loaded.metrics?.resumedByteCount == 30_000)
    }

    @Test func `Parts can be removed`() async throws {
        let server = try CutServer(.strongTag)
        let downloader = downloader()
        let url = server.url(30_000)
        _ = await downloadError(downloader, url)
        await withCheckedContinuation { continuation in
            downloader.removePartialDownloads(callbackQueue: .inline) { continuation.resume() }
        }
        let loaded = try await downloader.downloadData(with: url)
        #expect([UInt8](loaded.data) == CutServer.first && server.ranges(url).isEmpty)
    }

    @Test func `Nothing is kept unless a directory is set`() async throws {
        let server = try CutServer(.strongTag)
        let downloader = WebImageDownloader(config: WebImageDownloaderConfig())
        let url = server.url(30_000)
        _ = await downloadError(downloader, url)
        _ = try await downloader.downloadData(with: url)
        #expect(server.ranges(url).isEmpty)
        downloader.config.partialDownloadDirectory = directory.path("partial")
        let other = server.url(40_000)
        _ = await downloadError(downloader, other)
        _ = try await downloader.downloadData(with: other)
        #expect(server.ranges(other) == ["bytes=35904-"])
    }

    @Test func `A preview of the part is shown before the server responds`() async throws {
        let image = [UInt8]("grow".utf8) + [UInt8](repeating: UInt8(ascii: "x"), count: 19_996)
        let gate = Gate()
        let count = Lock(0)
        let server = try LoopbackServer { request in
            let number = count.withLock { count -> Int in
                count += 1
                return count
            }
            return .script { _, connection in
                let tag = ("ETag", "\"one\"")
                if number == 1 {
                    connection.sendHead(200, [tag, ("Content-Length", "20000")])
                    connection.send(Array(image[..<10_000]))
                    return false
                }
                guard gate.wait(), request.header("Range") == "bytes=5904-" else { return false }
                connection.sendHead(
                    206,
                    [tag, ("Content-Range", "bytes 5904-19999/20000"), ("Content-Length", "14096")]
                )
                return connection.send(Array(image[5904...]))
            }
        }
        let manager = WebImageManager(
            cache: ImageCache(directory: directory.path),
            loader: downloader(),
            pipeline: Pipeline(clock: ManualClock().source)
        )
        var context = WebImageContext()
        context.imageCoder = GrowingCoder()
        do {
            for try await _ in manager.events(with: server.url("/a"), options: .progressiveLoad, context: context) {}
            Issue.record("the first load breaks off")
        } catch {}
        var widths: [Int] = []
        for try await event in manager.events(with: server.url("/a"), options: .progressiveLoad, context: context) {
            guard case .result(let result) = event else { continue }
            widths.append(result.image.pixelWidth)
            gate.open()
        }
        #expect(widths.first == 10_000 && widths.last == 20_000)
        #expect(server.requestCount() == 2)
    }

    /// Waits until the store has finished its jobs.
    private func flush(_ downloader: WebImageDownloader) async {
        guard let store = downloader.core.partials as? PartialDownloads else { return }
        await awaitCompletion { store.flush(completion: $0) }
    }
}
