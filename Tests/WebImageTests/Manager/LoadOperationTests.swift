import FoundationEssentials
import Testing

@testable import WebImage

@Suite struct LoadOperationTests {
    private struct Harness {
        let outcome = Outcome()
        let operation: WebImageLoadOperation
        let result: WebImageResult

        init() throws {
            let outcome = outcome
            let url = URL(string: "http://host/a")!
            operation = WebImageLoadOperation(url: url, callbackQueue: .inline, pipeline: Pipeline()) {
                outcome.record($0)
            }
            let image = Image(bitmap: try .allocate(width: 1, height: 1, pixelFormat: .rgb8))
            result = .fromMemory(image, url: url, key: "k")
        }
    }

    @Test func `Handlers of the end are called in their order, before the completion, and at once after it`() throws {
        let harness = try Harness()
        let order = Lock<[String]>([])
        let outcome = harness.outcome
        harness.operation.addEndHandler { order.withLock { $0.append("first \(outcome.count)") } }
        harness.operation.addEndHandler { order.withLock { $0.append("second \(outcome.count)") } }
        harness.operation.end(.success(harness.result))
        harness.operation.addEndHandler { order.withLock { $0.append("late \(outcome.count)") } }
        harness.operation.end(.success(harness.result))
        #expect(order.withLock { $0 } == ["first 0", "second 0", "late 1"])
    }

    @Test func `An interim result keeps the load running, and nothing comes after the last`() throws {
        let harness = try Harness()
        harness.operation.deliver(.success(harness.result), isLast: false)
        #expect(harness.outcome.count == 1 && harness.operation.isRunning)
        harness.operation.deliver(.success(harness.result), isLast: true)
        #expect(harness.outcome.count == 2 && !harness.operation.isRunning)
        harness.operation.deliver(.success(harness.result), isLast: false)
        harness.operation.deliver(.success(harness.result), isLast: true)
        #expect(harness.outcome.count == 2)
    }

    @Test func `A result is final and has no error of a refresh, unless it is said`() throws {
        let result = try Harness().result
        #expect(result.isFinal && result.refreshError == nil)
        let interim = WebImageResult(
            image: result.image,
            data: nil,
            cacheType: .disk,
            url: result.url,
            cacheKey: "k",
            response: nil,
            metrics: nil,
            isFinal: false,
            refreshError: WebImageError(.timedOut, "too slow")
        )
        #expect(!interim.isFinal && interim.refreshError?.code == .timedOut)
    }
}
