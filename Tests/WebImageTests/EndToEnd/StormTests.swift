import FoundationEssentials
import TestSupport
import Testing

@testable import WebImage

@Suite struct StormTests {
    @Test func `Ten thousand loads of a hundred URLs over the network complete once each and leave nothing running`()
        async throws
    {
        let body = [UInt8](try Fixtures.data("JPEG/baseline-420.jpg"))
        var config = WebImageDownloaderConfig()
        config.maxConcurrentDownloads = 16
        let harness = try EndToEndHarness(config: config) { _ in .response(body: body) }
        let manager = harness.manager
        let urls = (0..<100).map { harness.server.url("/\($0).jpg") }
        let completions = Lock([Int](repeating: 0, count: 10_000))
        let failures = Lock<[WebImageError]>([])
        let done = EventCounter()
        var context = WebImageContext()
        context.callbackQueue = .inline
        let loading = context
        let cancellers = WorkQueue(name: "cancel", width: 2)
        await withTaskGroup(of: Void.self) { group in
            for part in 0..<4 {
                group.addTask {
                    var random = SeededGenerator(seed: UInt64(part))
                    for number in stride(from: part, to: 10_000, by: 4) {
                        let index = Int.random(in: 0..<100, using: &random)
                        let operation = manager.loadImage(with: urls[index], context: loading) { result in
                            completions.withLock { $0[number] += 1 }
                            if case .failure(let error) = result, error.code != .cancelled {
                                failures.withLock { $0.append(error) }
                            }
                            done.signal()
                        }
                        // Every other URL is never cancelled; of the rest, every load is, at some moment.
                        if index.isMultiple(of: 2) { cancellers.submit { operation.cancel() } }
                    }
                }
            }
        }
        await done.wait(for: 10_000)
        await withCheckedContinuation { continuation in cancellers.submit(priority: .low) { continuation.resume() } }
        #expect(completions.withLock { $0.allSatisfy { $0 == 1 } })
        #expect(failures.withLock { $0.isEmpty })
        for index in stride(from: 1, to: 100, by: 2) {
            #expect(harness.server.requestCount("/\(index).jpg") <= 1, "URL \(index) was needed once")
        }
        #expect(!manager.isRunning)
        #expect(await harness.pipeline.becomesIdle())
        await harness.cache.flush()
        #expect(harness.cache.diskCache.verify().isEmpty)
    }
}
