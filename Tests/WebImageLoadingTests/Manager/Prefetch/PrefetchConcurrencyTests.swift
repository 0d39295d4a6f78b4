import FoundationEssentials
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageLoading

@Suite(.tags(.threadSanitizer), .timeLimit(.minutes(10))) struct PrefetchConcurrencyTests {
    @Test func `Lists added, cancelled and reprioritized from four threads all end once`() async {
        let harness = ManagerHarness { $0.absoluteString.hashValue % 7 == 0 ? .success("bad") : .success("picture") }
        let prefetcher = WebImagePrefetcher(manager: harness.manager)
        prefetcher.callbackQueue = .inline
        prefetcher.context = harness.context()
        let lists = 400
        let ends = Lock<[Int: [PrefetchProgress]]>([:])
        let ended = EventCounter()
        let threads = 4
        for thread in 0..<threads {
            startThread {
                var random = SeededGenerator(seed: UInt64(thread))
                var tokens: [WebImagePrefetchToken] = []
                for number in stride(from: thread, to: lists, by: threads) {
                    let urls = (0..<Int.random(in: 1...12, using: &random)).map { _ in
                        URL(string: "http://host/\(Int.random(in: 0..<200, using: &random)).png")!
                    }
                    let target: WebImagePrefetcher.Target = Bool.random(using: &random) ? .disk : .memory
                    tokens.append(
                        prefetcher.prefetch(urls, target: target) { end in
                            ends.withLock { $0[number, default: []].append(end) }
                            ended.signal()
                        }
                    )
                    let token = tokens[Int.random(in: 0..<tokens.count, using: &random)]
                    switch Int.random(in: 0..<6, using: &random) {
                    case 0: token.cancel()
                    case 1: token.setPriority(LoadPriority.allCases.randomElement(using: &random)!)
                    case 2: prefetcher.maxConcurrentPrefetchCount = Int.random(in: 0...8, using: &random)
                    case 3: harness.manager.removeAllFailedURLs()
                    default: break
                    }
                }
            }
        }
        await ended.wait(for: lists)
        let all = ends.withLock { $0 }
        #expect(all.count == lists)
        #expect(all.values.allSatisfy { $0.count == 1 })
        let last = all.values.flatMap(\.self)
        #expect(last.allSatisfy { $0.isCancelled || $0.isComplete })
        await wait(while: prefetcher.runningCount + prefetcher.waitingCount > 0)
        #expect(await harness.manager.pipeline.becomesIdle())
    }
}
