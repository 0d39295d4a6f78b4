import Dispatch
import FoundationEssentials
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageLoading

@Suite(.tags(.threadSanitizer)) struct LoadOperationTests {
    private struct Harness {
        let outcome = Outcome()
        let operation: WebImageLoadOperation
        let result: WebImageResult

        init(
            on queue: CallbackQueue = .inline,
            _ receiver: (Outcome) -> WebImageLoadOperation.Receiver = { outcome in .each { outcome.record($0) } }
        ) throws {
            let url = URL(string: "http://host/a")!
            operation = WebImageLoadOperation(
                url: url,
                callbackQueue: queue,
                pipeline: Pipeline(),
                receiver: receiver(outcome)
            )
            let image = Image(bitmap: try .allocate(width: 1, height: 1, pixelFormat: .rgb8))
            result = WebImageResult(image: image, cacheType: .memory, url: url, cacheKey: "k")
        }
    }

    @Test func `An interim result keeps the load running, and nothing is delivered after the last`() throws {
        let harness = try Harness()
        harness.operation.deliver(harness.result)
        #expect(harness.outcome.count == 1 && harness.operation.isRunning && !harness.operation.isFinished)
        harness.operation.end(.success(harness.result))
        #expect(harness.outcome.count == 2 && harness.operation.isFinished)
        harness.operation.deliver(harness.result)
        harness.operation.end(.success(harness.result))
        #expect(harness.outcome.count == 2)
    }

    @Test func `A result is final and has no refresh error by default`() throws {
        let result = try Harness().result
        #expect(result.isFinal && result.refreshError == nil)
        let interim = WebImageResult(
            image: result.image,
            cacheType: .disk,
            url: result.url,
            cacheKey: "k",
            isFinal: false,
            cacheStatus: WebImageResult.CacheStatusDetails(refreshError: WebImageError(.timedOut, "too slow"))
        )
        #expect(!interim.isFinal && interim.refreshError?.code == .timedOut)
    }

    @Test
    func `A load that ends quietly after an interim result notifies only receivers of deliveries`() throws {
        let harness = try Harness()
        harness.operation.deliver(harness.result)
        harness.operation.endQuietly()
        harness.operation.endQuietly()
        harness.operation.cancel()
        #expect(harness.outcome.count == 1 && harness.operation.isFinished && !harness.operation.isCancelled)
        let log = Lock<[Bool]>([])
        let told = try Harness { _ in .deliveries { delivery in log.withLock { $0.append(delivery.isEnd) } } }
        told.operation.deliver(told.result)
        told.operation.endQuietly()
        told.operation.endQuietly()
        #expect(log.withLock { $0 } == [false, true])
    }

    @Test func `A load that ends quietly without a delivery completes with an error`() async throws {
        let harness = try Harness()
        harness.operation.endQuietly()
        #expect(await harness.outcome.error()?.code == .cacheNotModified && harness.outcome.count == 1)
        let last = try Harness { outcome in .last { outcome.record($0) } }
        last.operation.endQuietly()
        #expect(await last.outcome.error()?.code == .cacheNotModified && last.outcome.count == 1)
    }

    @Test func `A caller that takes one result gets the last image, with the error after it`() async throws {
        func harness() throws -> Harness { try Harness { outcome in .last { outcome.record($0) } } }
        let quiet = try harness()
        quiet.operation.deliver(quiet.result)
        #expect(quiet.outcome.count == 0)
        quiet.operation.endQuietly()
        let unchanged = try await quiet.outcome.value().get()
        #expect(unchanged.image === quiet.result.image && unchanged.isFinal && unchanged.refreshError == nil)

        let failed = try harness()
        failed.operation.deliver(failed.result)
        failed.operation.end(.failure(WebImageError(.timedOut, "too slow")))
        let kept = try await failed.outcome.value().get()
        #expect(kept.image === failed.result.image && kept.isFinal && kept.refreshError?.code == .timedOut)

        let changed = try harness()
        let newer = try harness().result
        changed.operation.deliver(changed.result)
        changed.operation.end(.success(newer))
        #expect(try await changed.outcome.value().get().image === newer.image)

        let cancelled = try harness()
        cancelled.operation.deliver(cancelled.result)
        cancelled.operation.cancel()
        #expect(await cancelled.outcome.error()?.code == .cancelled)

        let plain = try harness()
        plain.operation.end(.failure(WebImageError(.timedOut, "too slow")))
        #expect(await plain.outcome.error()?.code == .timedOut)
        for each in [quiet, failed, changed, cancelled, plain] { #expect(each.outcome.count == 1) }
    }

    @Test func `Cancelling after an interim result delivers the cancellation once`() async throws {
        let harness = try Harness()
        harness.operation.deliver(harness.result)
        harness.operation.cancel()
        harness.operation.cancel()
        harness.operation.end(.success(harness.result))
        let results = await harness.outcome.values(2)
        #expect(results.count == 2 && harness.operation.isCancelled)
        #expect(throws: WebImageError.cancelled(harness.result.url)) { try results[1].get() }
    }

    @Test func `A cancellation from within the first completion is delivered after it`() throws {
        let order = Lock<[String]>([])
        let operation = Lock<WebImageLoadOperation?>(nil)
        let harness = try Harness { _ in
            .each { result in
                guard case .success = result else { return order.withLock { $0.append("cancelled") } }
                operation.withLock { $0 }?.cancel()
                order.withLock { $0.append("first") }
            }
        }
        operation.withLock { $0 = harness.operation }
        harness.operation.deliver(harness.result)
        #expect(order.withLock { $0 } == ["first", "cancelled"])
        operation.withLock { $0 = nil }
    }

    @Test func `On a concurrent queue two deliveries are in order and not concurrent`() async throws {
        for _ in 0..<200 {
            let order = Lock<[Bool]>([])
            let busy = Lock(0)
            let done = EventCounter()
            let harness = try Harness(on: .global) { _ in
                .each { result in
                    #expect(
                        busy.withLock {
                            $0 += 1; return $0
                        } == 1
                    )
                    order.withLock { $0.append((try? result.get()) != nil) }
                    busy.withLock { $0 -= 1 }
                    done.signal()
                }
            }
            harness.operation.deliver(harness.result)
            harness.operation.end(.failure(WebImageError(.timedOut, "too slow")))
            await done.wait(for: 2)
            #expect(order.withLock { $0 } == [true, false])
        }
    }

    @Test func `Deliveries, ends and cancellations from many threads: one end, and nothing after it`() async throws {
        for _ in 0..<300 {
            let log = Lock<[WebImageLoadOperation.Delivery]>([])
            let harness = try Harness(on: .global) { _ in
                .deliveries { delivery in log.withLock { $0.append(delivery) } }
            }
            DispatchQueue.concurrentPerform(iterations: 4) { number in
                switch number {
                case 0: harness.operation.deliver(harness.result)
                case 1: harness.operation.end(.success(harness.result))
                case 2: harness.operation.endQuietly()
                default: harness.operation.cancel()
                }
            }
            #expect(harness.operation.isFinished)
            #expect(await becomes { log.withLock { $0.last?.isEnd ?? false } })
            let deliveries = log.withLock { $0 }
            #expect(deliveries.filter(\.isEnd).count == 1 && deliveries.last?.isEnd == true)
        }
    }

    @Test func `The work that a load waits for is replaced, and a priority change applies to later work`() async throws
    {
        let harness = ManagerHarness()
        let outcome = Outcome()
        let operation = WebImageLoadOperation(
            url: harness.url,
            callbackQueue: .inline,
            pipeline: harness.manager.pipeline,
            receiver: .each { outcome.record($0) }
        )
        func work(_ path: String) -> FetchWork {
            FetchWork(url: URL(string: "http://host/\(path)")!, loader: harness.loader, options: [])
        }
        operation.subscribe(to: work("first"), priority: .normal, progress: nil) { _ in }
        let first = await harness.loader.waitForLoads(1)[0]
        operation.setPriority(.high)
        #expect(first.priority == .high)
        operation.subscribe(to: work("second"), priority: .low, progress: nil) { _ in }
        let second = await harness.loader.waitForLoads(2)[1]
        #expect(first.isCancelled && second.priority == .high)
        operation.cancel()
        #expect(second.isCancelled && outcome.count == 1)
        operation.subscribe(to: work("third"), priority: .low, progress: nil) { _ in }
        #expect(harness.loader.loads.count == 2, "nothing is begun for a load that is over")
        #expect(await harness.manager.pipeline.becomesIdle())
    }

    @Test func `Work that ends at once and is replaced leaves the second to be cancelled`() async throws {
        let harness = ManagerHarness { url in
            url.path == "/first" ? .success("first") : .failure(WebImageError(.timedOut, "unused"))
        }
        let waiting = FakeLoader()
        let operation = WebImageLoadOperation(
            url: harness.url,
            callbackQueue: .inline,
            pipeline: harness.manager.pipeline,
            receiver: .each { _ in }
        )
        let first = FetchWork(url: URL(string: "http://host/first")!, loader: harness.loader, options: [])
        let second = FetchWork(url: URL(string: "http://host/second")!, loader: waiting, options: [])
        operation.subscribe(to: first, priority: .normal, progress: nil) { _ in
            operation.subscribe(to: second, priority: .normal, progress: nil) { _ in }
        }
        let load = await waiting.waitForLoads(1)[0]
        #expect(!load.isCancelled)
        operation.cancel()
        #expect(load.isCancelled)
        #expect(await harness.manager.pipeline.becomesIdle())
    }

    @Test func `Work started from within a cancellation is not left running`() async throws {
        let harness = ManagerHarness()
        let operation = WebImageLoadOperation(
            url: harness.url,
            callbackQueue: .inline,
            pipeline: harness.manager.pipeline,
            receiver: .each { _ in }
        )
        let second = FetchWork(url: URL(string: "http://host/second")!, loader: harness.loader, options: [])
        let first = FetchWork(
            url: harness.url,
            loader: LoaderThatHearsOfTheCancel {
                operation.subscribe(to: second, priority: .normal, progress: nil) { _ in }
            },
            options: []
        )
        operation.subscribe(to: first, priority: .normal, progress: nil) { _ in }
        operation.cancel()
        #expect(harness.loader.loads.allSatisfy { $0.isCancelled })
        #expect(await harness.manager.pipeline.becomesIdle())
    }
}

/// Never ends a load by itself.
private final class LoaderThatHearsOfTheCancel: ImageLoading, ImageLoaderOperation {
    private let didCancel: @Sendable () -> Void

    init(_ didCancel: @escaping @Sendable () -> Void) { self.didCancel = didCancel }

    var isCancelled: Bool { false }

    func canLoad(_ url: URL, options: WebImageOptions) -> Bool { true }

    func load(
        _ request: ImageLoadRequest,
        progress: @escaping @Sendable (LoadProgress) -> Void,
        completion: @escaping @Sendable (Result<LoadedImageData, WebImageError>) -> Void
    ) -> any ImageLoaderOperation { self }

    func shouldBlockFailedURL(_ url: URL, error: WebImageError) -> Bool { false }

    func cancel() { didCancel() }

    func setPriority(_ priority: LoadPriority) {}
}

extension WebImageLoadOperation.Delivery {
    fileprivate var isEnd: Bool {
        if case .interim = self { return false }
        return true
    }
}
