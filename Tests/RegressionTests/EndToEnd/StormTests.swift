import CacheTestSupport
import FoundationEssentials
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@Suite(.tags(.threadSanitizer)) struct StormTests {
    @Test func `Ten thousand loads of a hundred URLs over the network complete once each and leave nothing running`()
        async throws
    {
        let storm = try Storm(config: Storm.config)
        let cancellers = WorkQueue(name: "cancel", width: 2)
        await storm.startAll { index, operation in
            // Every other URL is never cancelled; of the rest, every load is, at some moment.
            if index.isMultiple(of: 2) { cancellers.submit { operation.cancel() } }
        }
        await storm.done.wait(for: Storm.loadCount)
        await cancellers.finish()
        #expect(storm.outcomes.allSatisfy { $0 == [.picture] || $0 == [.failure(.cancelled)] })
        for index in stride(from: 1, to: Storm.urlCount, by: 2) {
            #expect(storm.requestCount(index) <= 1, "URL \(index) was needed once")
        }
        try await storm.expectEnd()
    }

    @Test func `Of ten thousand loads of a hundred URLs a random half is cancelled, and the others are not affected`()
        async throws
    {
        let gate = Gate()
        var config = Storm.config
        // The start of the loads is not measured.
        config.downloadTimeout = 120
        let storm = try Storm(config: config, gate: gate)
        let operations = Lock<[(index: Int, operation: WebImageLoadOperation)]>([])
        await storm.startAll { index, operation in
            operations.withLock { $0.append((index, operation)) }
        }
        // As many as may run wait for their response, the others for a slot.
        #expect(await gate.arrivals(config.maxConcurrentDownloads))
        var random = SeededGenerator(seed: 2026)
        let shuffled = operations.withLock { $0 }.shuffled(using: &random)
        let (leaving, staying) = (shuffled.prefix(Storm.loadCount / 2), shuffled.dropFirst(Storm.loadCount / 2))
        #expect(Set(staying.map(\.index)).count == Storm.urlCount && Set(leaving.map(\.index)).count == Storm.urlCount)
        let cancellers = WorkQueue(name: "cancel", width: 2)
        for (_, operation) in leaving { cancellers.submit { operation.cancel() } }
        await storm.done.wait(for: leaving.count)
        await cancellers.finish()
        #expect(storm.outcomes.filter { $0 == [.failure(.cancelled)] }.count == leaving.count)
        #expect(storm.outcomes.filter(\.isEmpty).count == staying.count)
        #expect(leaving.allSatisfy(\.operation.isCancelled) && !staying.contains(where: \.operation.isCancelled))

        gate.open()
        await storm.done.wait(for: Storm.loadCount)
        #expect(storm.outcomes.filter { $0 == [.failure(.cancelled)] }.count == leaving.count)
        #expect(storm.outcomes.filter { $0 == [.picture] }.count == staying.count)
        for index in 0..<Storm.urlCount { #expect(storm.requestCount(index) == 1, "URL \(index)") }
        try await storm.expectEnd()
        #expect(storm.harness.cache.totalDiskCount == Storm.urlCount)
    }
}

/// Ten thousand loads of a hundred URLs of a loopback server, with their results.
private final class Storm: Sendable {
    enum Outcome: Hashable, Sendable {
        case picture
        case failure(WebImageError.Code)
    }

    /// So many that each URL is in both halves.
    static let loadCount = max(TestEffort.rounds(10_000), 2500)
    static let urlCount = 100

    static var config: WebImageDownloaderConfig {
        var config = WebImageDownloaderConfig()
        config.maxConcurrentDownloads = 16
        return config
    }

    let harness: EndToEndHarness
    /// Counts completions.
    let done = EventCounter()
    private let log = Lock([[Outcome]](repeating: [], count: Storm.loadCount))

    /// The results of the loads so far: each should complete once.
    var outcomes: [[Outcome]] { log.withLock { $0 } }

    /// With a gate, the server's responses wait at it.
    init(config: WebImageDownloaderConfig, gate: Gate? = nil) throws {
        let body = [UInt8](try Fixtures.data("JPEG/baseline-420.jpg"))
        harness = try EndToEndHarness(config: config) { _ in
            gate.map { .delayed($0, then: .response(body: body)) } ?? .response(body: body)
        }
    }

    /// Starts all loads, each of a random URL, from four tasks at once; `body` gets them with the number of the URL.
    func startAll(_ body: @escaping @Sendable (Int, WebImageLoadOperation) -> Void) async {
        await withTaskGroup(of: Void.self) { group in
            for part in 0..<4 {
                group.addTask { [self] in
                    var random = SeededGenerator(seed: UInt64(part))
                    for number in stride(from: part, to: Self.loadCount, by: 4) {
                        let index = Int.random(in: 0..<Self.urlCount, using: &random)
                        body(index, start(number, url: index))
                    }
                }
            }
        }
    }

    private func start(_ number: Int, url index: Int) -> WebImageLoadOperation {
        var context = WebImageContext()
        context.callbackQueue = .inline
        return harness.manager.loadImage(with: harness.server.url("/\(index).jpg"), context: context) { [self] result in
            let outcome: Outcome
            switch result {
            case .success: outcome = .picture
            case .failure(let error): outcome = .failure(error.code)
            }
            log.withLock { $0[number].append(outcome) }
            done.signal()
        }
    }

    func requestCount(_ index: Int) -> Int { harness.server.requestCount("/\(index).jpg") }

    /// Checks that nothing runs any more, and the cache is whole.
    func expectEnd(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        #expect(!harness.manager.isRunning, sourceLocation: sourceLocation)
        #expect(await harness.pipeline.becomesIdle(), sourceLocation: sourceLocation)
        await harness.cache.flush()
        #expect(harness.cache.diskCache.verify().isEmpty, sourceLocation: sourceLocation)
        #expect(outcomes.allSatisfy { $0.count == 1 }, "each ended once", sourceLocation: sourceLocation)
    }
}

extension WorkQueue {
    /// Suspends until everything submitted so far has run.
    fileprivate func finish() async {
        await withCheckedContinuation { continuation in submit(priority: .low) { continuation.resume() } }
    }
}
