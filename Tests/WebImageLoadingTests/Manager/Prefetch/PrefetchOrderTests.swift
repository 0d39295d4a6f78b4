import FoundationEssentials
import HTTPTestSupport
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageLoading
@testable import WebImageSupport

/// Prefetchers whose loads are started by the test, on a loader with test responses.
@Suite(.timeLimit(.minutes(5))) struct PrefetchOrderTests {
    private let harness = ManagerHarness()
    private let queue = WorkQueue(stepped: "prefetch")

    private func prefetcher(width: Int) -> WebImagePrefetcher {
        let prefetcher = WebImagePrefetcher(manager: harness.manager, queue: queue)
        prefetcher.callbackQueue = .inline
        prefetcher.maxConcurrentPrefetchCount = width
        // Without a disk query, a load is at the loader when its job has run.
        prefetcher.options = [.lowPriority, .fromLoaderOnly]
        return prefetcher
    }

    private func urls(_ name: String, _ count: Int) -> [URL] {
        (0..<count).map { URL(string: "http://host/\(name)\($0)")! }
    }

    private func fail(_ load: FakeLoader.Load) { load.answer(.failure(WebImageError(.timedOut, "too slow"))) }

    /// The order in which URLs start when one runs at a time.
    private func orderOfAll() -> [String] {
        var order: [String] = []
        queue.runAll()
        while order.count < harness.loader.loads.count {
            let load = harness.loader.loads[order.count]
            order.append(load.request.url.lastPathComponent)
            fail(load)
            queue.runAll()
        }
        return order
    }

    @Test func `URLs start in the order of the list, and lists in the order they were added`() {
        let prefetcher = prefetcher(width: 1)
        for name in ["a", "b"] { prefetcher.prefetch(urls(name, 3)) }
        #expect(orderOfAll() == ["a0", "a1", "a2", "b0", "b1", "b2"])
    }

    @Test func `A more urgent list goes first, also when it becomes urgent later`() {
        let prefetcher = prefetcher(width: 1)
        prefetcher.isSuspended = true
        let slow = prefetcher.prefetch(urls("slow", 2))
        prefetcher.prefetch(urls("quick", 1), priority: .normal)
        prefetcher.prefetch(urls("later", 2), priority: .normal)
        slow.setPriority(.high)
        prefetcher.isSuspended = false
        #expect(orderOfAll() == ["slow0", "slow1", "quick0", "later0", "later1"])
    }

    @Test func `Running loads of a list that becomes urgent are reprioritized in order`() async {
        let transport = FakeTransport()
        var config = WebImageDownloaderConfig()
        config.maxConcurrentDownloads = 1
        let downloader = WebImageDownloader(config: config, transport: transport)
        let manager = WebImageManager(cache: harness.cache, loader: downloader)
        let prefetcher = WebImagePrefetcher(manager: manager, queue: queue)
        prefetcher.callbackQueue = .inline
        prefetcher.maxConcurrentPrefetchCount = 20
        prefetcher.options = [.lowPriority, .fromLoaderOnly]
        prefetcher.prefetch(urls("first", 1))
        prefetcher.prefetch(urls("other", 3))
        let urgent = prefetcher.prefetch(urls("urgent", 9))
        queue.runAll()
        #expect(transport.transfers.count == 1)
        urgent.setPriority(.high)
        queue.runAll()
        for number in 0..<13 {
            await wait(while: transport.transfers.count <= number)
            transport.transfers[number].complete(Array("picture".utf8))
        }
        let order = ["first0"] + (0..<9).map { "urgent\($0)" } + (0..<3).map { "other\($0)" }
        #expect(transport.transfers.map(\.request.url.lastPathComponent) == order)
    }

    @Test func `In thousands of random steps every URL ends once, within the concurrency limit`() {
        var random = SeededGenerator(seed: 7)
        let prefetcher = prefetcher(width: 3)
        var width = 3
        var tokens: [WebImagePrefetchToken] = []
        let ends = Lock<[Int: [PrefetchProgress]]>([:])
        let readings = Lock<[Int: [Int]]>([:])
        var answered = 0
        func answerOne() {
            let waiting = harness.loader.loads[answered...]
            guard let load = waiting.first else { return }
            answered += 1
            fail(load)
        }
        for _ in 0..<TestEffort.rounds(5_000) {
            switch Int.random(in: 0..<12, using: &random) {
            case 0:
                let number = tokens.count
                let list = urls("\(number)-", Int.random(in: 1...9, using: &random))
                let priority = LoadPriority.allCases.randomElement(using: &random)
                tokens.append(
                    prefetcher.prefetch(list, priority: priority) { reading in
                        readings.withLock { $0[number, default: []].append(reading.finishedCount) }
                    } completion: { end in
                        ends.withLock { $0[number, default: []].append(end) }
                    }
                )
            case 1:
                tokens.randomElement(using: &random)?.setPriority(LoadPriority.allCases.randomElement(using: &random)!)
            case 2 where Int.random(in: 0..<8, using: &random) == 0: tokens.randomElement(using: &random)?.cancel()
            case 3:
                width = Int.random(in: 0...4, using: &random)
                prefetcher.maxConcurrentPrefetchCount = width
            case 4: prefetcher.isSuspended.toggle()
            case 5...8: queue.runAll()
            default: answerOne()
            }
            // Loads started under a higher limit continue.
            #expect(prefetcher.runningCount <= 4)
        }
        prefetcher.isSuspended = false
        queue.runAll()
        while answered < harness.loader.loads.count {
            answerOne()
            queue.runAll()
        }
        #expect(prefetcher.runningCount == 0 && prefetcher.waitingCount == 0)
        for (number, token) in tokens.enumerated() {
            let end = ends.withLock { $0[number] ?? [] }
            #expect(end == [token.progress] && (token.isCancelled || token.progress.isComplete))
            let told = readings.withLock { $0[number] ?? [] }
            #expect(told == Array(0..<token.progress.finishedCount).map { $0 + 1 })
        }
    }
}
