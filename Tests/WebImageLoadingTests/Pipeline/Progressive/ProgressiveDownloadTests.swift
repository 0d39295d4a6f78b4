import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageLoading

/// Previews of a body that a server sends piece by piece.
@Suite(.tags(.threadSanitizer), .timeLimit(.minutes(10))) struct ProgressiveDownloadTests {
    private let gate = Gate()
    private let directory = TemporaryDirectory()

    private func manager(_ change: (inout WebImageDownloaderConfig) -> Void = { _ in }) -> WebImageManager {
        var config = WebImageDownloaderConfig()
        change(&config)
        return WebImageManager(
            cache: ImageCache(directory: directory.path),
            loader: WebImageDownloader(config: config),
            // On a clock that stands still nothing costs time, and no preview is skipped for that.
            pipeline: Pipeline(clock: ManualClock().source)
        )
    }

    private func context(_ change: (inout WebImageContext) -> Void = { _ in }) -> WebImageContext {
        var context = WebImageContext()
        context.imageCoder = GrowingCoder()
        change(&context)
        return context
    }

    private static let pieces = ["grow", "1234", "5678", "90"].map { [UInt8]($0.utf8) }

    @Test func `An image has previews while it arrives`() async throws {
        let server = try LoopbackServer { [gate] _ in .drip(Self.pieces, gate: gate) }
        var widths: [Int] = []
        var finals: [Bool] = []
        gate.release(1)
        let events = manager().events(with: server.url("/a"), options: .progressiveLoad, context: context())
        for try await event in events {
            guard case .result(let result) = event else { continue }
            widths.append(result.image.pixelWidth)
            finals.append(result.isFinal)
            gate.release(1)
        }
        #expect(widths == [4, 8, 12, 14] && finals == [false, false, false, true])
        #expect(server.requestCount() == 1)
    }

    @Test func `A body without a length has previews while it arrives`() async throws {
        let server = try LoopbackServer { [gate] _ in .chunkedDrip(Self.pieces, gate: gate) }
        var widths: [Int] = []
        gate.release(1)
        let events = manager().events(with: server.url("/a"), options: .progressiveLoad, context: context())
        for try await event in events {
            guard case .result(let result) = event else { continue }
            widths.append(result.image.pixelWidth)
            gate.release(1)
        }
        #expect(widths == [4, 8, 12, 14, 14], "that it was all is known only at its end")
    }

    @Test func `The interval holds for a body without a length, relative to the received bytes`() async throws {
        let pieces = ["grow"].map { [UInt8]($0.utf8) } + (0..<26).map { [UInt8(ascii: "a") + $0] }
        let server = try LoopbackServer { [gate] _ in .chunkedDrip(pieces, gate: gate) }
        let manager = manager { $0.minimumProgressInterval = 0.5 }
        var widths: [Int] = []
        let events = manager.events(with: server.url("/a"), options: .progressiveLoad, context: context())
        for try await event in events {
            switch event {
            case .progress: gate.release(1)
            case .result(let result): widths.append(result.image.pixelWidth)
            }
        }
        // At 4 bytes, 6, 9, 14 and 21; a preview is skipped when the next one overtakes it.
        #expect(widths.last == 30 && Set(widths.dropLast()).isSubset(of: [4, 6, 9, 14, 21]))
        #expect(widths == widths.sorted())
    }

    @Test func `Previews are throttled to the downloader's interval`() async throws {
        let server = try LoopbackServer { [gate] _ in .drip(Self.pieces, gate: gate) }
        let manager = manager { $0.minimumProgressInterval = 0.5 }
        let reached = Lock<[Int64]>([])
        var widths: [Int] = []
        gate.release(4)
        let events = manager.events(with: server.url("/a"), options: .progressiveLoad, context: context())
        for try await event in events {
            switch event {
            case .progress(let progress): reached.withLock { $0.append(progress.receivedByteCount) }
            case .result(let result): widths.append(result.image.pixelWidth)
            }
        }
        #expect(widths.dropLast().allSatisfy { $0 >= 7 } && widths.last == 14, "half of it, then all")
    }

    @Test func `An encrypted download has no previews`() async throws {
        let server = try LoopbackServer { _ in .response(body: [UInt8](Data("grow12".utf8).base64EncodedData())) }
        var context = context()
        context.downloadDecryptor = .base64
        var count = 0
        for try await event in manager().events(with: server.url("/a"), options: .progressiveLoad, context: context) {
            if case .result(let result) = event {
                count += 1
                #expect(result.isFinal && result.image.pixelWidth == 6)
            }
        }
        #expect(count == 1)
    }

    @Test func `An error page has no previews`() async throws {
        let server = try LoopbackServer { [gate] _ in
            .script { _, connection in
                guard connection.sendHead(404, [("Content-Length", "10")]), connection.send([UInt8]("grow1".utf8))
                else { return false }
                _ = gate.wait()
                return connection.send([UInt8]("23456".utf8))
            }
        }
        gate.release(1)
        var results = 0
        let error = await #expect(throws: WebImageError.self) {
            let events = manager().events(with: server.url("/a"), options: .progressiveLoad, context: context())
            for try await event in events { if case .result = event { results += 1 } }
        }
        #expect(error?.code == .invalidDownloadStatusCode && results == 0)
    }

    @Test func `A second attempt starts again, and its image is its own`() async throws {
        let attempts = Lock(0)
        let server = try LoopbackServer { [gate] _ in
            let attempt = attempts.withLock { count in
                count += 1
                return count
            }
            guard attempt == 1 else { return .drip([[UInt8]("grow".utf8), [UInt8]("56".utf8)], gate: gate) }
            return .script { _, connection in
                guard connection.sendHead(200, [("Content-Length", "100")]), connection.send([UInt8]("grow1234".utf8))
                else { return false }
                _ = gate.wait()
                return false
            }
        }
        let manager = manager {
            $0.retryPolicy.maximumRetryCount = 1
            $0.retryPolicy.baseDelay = 0.001
        }
        var widths: [Int] = []
        for try await event in manager.events(
            with: server.url("/a"),
            options: .progressiveLoad,
            context: context()
        ) {
            guard case .result(let result) = event else { continue }
            widths.append(result.image.pixelWidth)
            gate.release(2)
        }
        #expect(widths.first == 8 && widths.last == 6 && attempts.withLock { $0 } == 2)
    }
}
