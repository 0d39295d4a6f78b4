import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageLoading
@testable import WebImageModel

/// Slow progress closures may only delay their own download.
@Suite(.tags(.threadSanitizer), .timeLimit(.minutes(10))) struct ProgressThreadTests {
    /// Downloads with a progress closure that blocks until another download has ended.
    private func check(
        _ load:
            @escaping @Sendable (WebImageDownloader, URL, @escaping @Sendable (LoadProgress) -> Void) async throws
            -> Void
    ) async throws {
        let server = try LoopbackServer { [body = try smallImageData()] _ in .response(body: body) }
        let downloader = WebImageDownloader()
        let gate = Gate()
        let seen = Lock<[LoadProgress]>([])
        let slow = Task {
            try await load(downloader, server.url("/slow")) { progress in
                gate.wait()
                seen.withLock { $0.append(progress) }
            }
        }
        #expect(await gate.arrivals())
        for number in 0..<3 { _ = try await downloader.downloadData(with: server.url("/\(number)")) }
        #expect(seen.withLock { $0.isEmpty })
        gate.open()
        try await slow.value
        #expect(seen.withLock { $0.last?.fraction } == 1, "the end waits for pending readings")
    }

    @Test func `A slow progress closure of a downloader delays no other download`() async throws {
        try await check { downloader, url, progress in
            _ = try await downloader.downloadData(with: url, progress: progress)
        }
        try await check { downloader, url, progress in
            _ = try await downloader.downloadImage(with: url, progress: progress)
        }
        try await check { downloader, url, progress in
            _ = try await downloader.downloadData(with: url, context: WebImageContext(), progress: progress)
        }
    }

    @Test func `A slow progress closure of a manager delays no other download`() async throws {
        try await check { downloader, url, progress in
            let manager = WebImageManager(cache: FakeCache(), loader: downloader, pipeline: Pipeline())
            _ = try await manager.result(with: url, progress: progress)
        }
    }

    // MARK: The relay

    private func reading(_ count: Int) -> LoadProgress {
        LoadProgress(receivedByteCount: Int64(count), expectedByteCount: 1000)
    }

    @Test func `Readings are delivered in order, one at a time, before the end`() async {
        let gate = Gate()
        let log = Monitor<[Int]>([])
        let relay = ProgressRelay { progress in
            gate.wait()
            log.withLock { $0.append(Int(progress.receivedByteCount)) }
        }
        for count in 1...5 { relay.post(reading(count)) }
        relay.end { log.withLock { $0.append(-1) } }
        relay.post(reading(6))
        relay.end { log.withLock { $0.append(-2) } }
        #expect(log.withLock { $0.isEmpty })
        gate.open()
        #expect(await log.value { $0.last == -1 ? $0 : nil } == [1, 2, 3, 4, 5, -1])
    }

    @Test func `A closure that cannot keep up gets the first and the latest readings`() async {
        let gate = Gate()
        let log = Monitor<[Int]>([])
        let relay = ProgressRelay { progress in
            gate.wait()
            log.withLock { $0.append(Int(progress.receivedByteCount)) }
        }
        relay.post(reading(0))
        #expect(await gate.arrivals())
        for count in 1...1000 { relay.post(reading(count)) }
        relay.end { log.withLock { $0.append(-1) } }
        gate.open()
        let seen = await log.value { $0.last == -1 ? $0 : nil }
        #expect(seen?.count == ProgressRelay.capacity + 2 && seen?.dropLast().last == 1000)
    }

    @Test func `With no pending reading the end is delivered at once, and cancelling drops pending readings`() async {
        let ended = Lock(0)
        let idle = ProgressRelay { _ in }
        idle.end { ended.withLock { $0 += 1 } }
        #expect(ended.withLock { $0 } == 1)
        let gate = Gate()
        let log = Monitor<[Int]>([])
        let busy: ProgressRelay? = ProgressRelay { progress in
            gate.wait()
            log.withLock { $0.append(Int(progress.receivedByteCount)) }
        }
        busy?.post(reading(1))
        #expect(await gate.arrivals())
        busy?.post(reading(2))
        busy.end(Result<Int, WebImageError>.failure(.cancelled())) { log.withLock { $0.append(-1) } }
        gate.open()
        #expect(await log.value { $0.last == -1 ? $0 : nil } == [1, -1])
    }
}
