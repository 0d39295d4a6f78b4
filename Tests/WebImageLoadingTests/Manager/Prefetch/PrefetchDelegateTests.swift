import Dispatch
import FoundationEssentials
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImageLoading

@Suite(.tags(.threadSanitizer)) struct PrefetchDelegateTests {
    /// Records its calls.
    private final class Delegate: WebImagePrefetcherDelegate {
        let calls = Lock<[String]>([])

        func prefetcher(
            _ prefetcher: WebImagePrefetcher,
            didPrefetch url: URL,
            finishedCount: Int,
            totalCount: Int
        ) {
            calls.withLock { $0.append("\(url.lastPathComponent) \(finishedCount)/\(totalCount)") }
        }

        func prefetcher(
            _ prefetcher: WebImagePrefetcher,
            didFinishWithTotalCount totalCount: Int,
            skippedCount: Int
        ) {
            calls.withLock { $0.append("end \(totalCount) -\(skippedCount)") }
        }
    }

    private let harness = ManagerHarness()
    private let delegate = Delegate()

    private func prefetcher() -> WebImagePrefetcher {
        let prefetcher = WebImagePrefetcher(manager: harness.manager)
        prefetcher.callbackQueue = .inline
        prefetcher.context = harness.context()
        prefetcher.delegate = delegate
        prefetcher.maxConcurrentPrefetchCount = 1
        return prefetcher
    }

    private func url(_ name: String) -> URL { URL(string: "http://host/\(name)")! }

    @Test func `The delegate is notified before the list, and of the end before the completion`() async {
        let prefetcher = prefetcher()
        let end = EventCounter()
        let calls = delegate.calls
        prefetcher.prefetch([url("a"), url("b")]) { progress in
            calls.withLock { $0.append("list \(progress.finishedCount)") }
        } completion: { progress in
            calls.withLock { $0.append("done \(progress.finishedCount)") }
            end.signal()
        }
        await harness.loader.waitForLoads(1)[0].succeed()
        await harness.loader.waitForLoads(2)[1].succeed("bad")
        await end.wait(for: 1)
        #expect(calls.withLock { $0 } == ["a 1/2", "list 1", "b 2/2", "list 2", "end 2 -1", "done 2"])
    }

    @Test func `The delegate's counts are sums over all running lists`() async {
        let prefetcher = prefetcher()
        let end = EventCounter()
        prefetcher.prefetch([url("a")]) { _ in end.signal() }
        prefetcher.prefetch([url("b"), url("c")]) { _ in end.signal() }
        for index in 0..<3 { await harness.loader.waitForLoads(index + 1)[index].succeed() }
        await end.wait(for: 2)
        #expect(delegate.calls.withLock { $0 } == ["a 1/3", "b 1/2", "c 2/2", "end 2 -0"])
    }

    @Test func `A delegate is held weakly, and may be released`() async {
        let prefetcher = WebImagePrefetcher(manager: harness.manager)
        prefetcher.callbackQueue = .inline
        prefetcher.context = harness.context()
        var short: Delegate? = Delegate()
        prefetcher.delegate = short
        #expect(prefetcher.delegate != nil)
        short = nil
        #expect(prefetcher.delegate == nil)
        let end = EventCounter()
        prefetcher.prefetch([url("a")]) { _ in end.signal() }
        await harness.loader.waitForLoads(1)[0].succeed()
        await end.wait(for: 1)
        #expect(end.count == 1)
    }

    @Test func `When nobody holds the prefetcher, its delegate is still notified of running lists`() async {
        let end = EventCounter()
        var prefetcher: WebImagePrefetcher? = self.prefetcher()
        prefetcher?.prefetch([url("a")]) { _ in end.signal() }
        prefetcher = nil
        await harness.loader.waitForLoads(1)[0].succeed()
        await end.wait(for: 1)
        #expect(delegate.calls.withLock { $0 } == ["a 1/1", "end 1 -0"])
    }

    @Test func `A cancelled list does not notify the delegate of an end`() async {
        let prefetcher = prefetcher()
        let token = prefetcher.prefetch([url("a")])
        _ = await harness.loader.waitForLoads(1)
        token.cancel()
        #expect(delegate.calls.withLock { $0 } == [])
    }

    @Test func `Calls are made on the queue of the list's context, or the prefetcher's`() async {
        let queue = DispatchQueue(label: "list")
        let key = DispatchSpecificKey<Bool>()
        queue.setSpecific(key: key, value: true)
        let prefetcher = prefetcher()
        var context = harness.context()
        context.callbackQueue = CallbackQueue(queue)
        let isThere = Lock<[Bool]>([])
        let end = EventCounter()
        prefetcher.prefetch([url("a")], context: context) { _ in
            isThere.withLock { $0.append(DispatchQueue.getSpecific(key: key) == true) }
        } completion: { _ in
            isThere.withLock { $0.append(DispatchQueue.getSpecific(key: key) == true) }
            end.signal()
        }
        await harness.loader.waitForLoads(1)[0].succeed()
        await end.wait(for: 1)
        #expect(isThere.withLock { $0 } == [true, true])
    }
}
