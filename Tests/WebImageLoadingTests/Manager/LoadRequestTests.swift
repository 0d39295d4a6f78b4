import FoundationEssentials
import LoadingTestSupport
import ModelTestSupport
import Testing

@testable import WebImageLoading

private enum Page: OptionKey { static let defaultValue = 0 }
private enum Note: WebImageContextKey { static let defaultValue = 0 }

@Suite struct LoadRequestTests {
    private typealias Change = @Sendable (inout WebImageContext) -> Void

    @Test(.timeLimit(.minutes(1)))
    func `Header fields, values and hooks of a context reach the loader`() async throws {
        let harness = ManagerHarness()
        let modifier = DownloadRequestModifier { $0 }
        let context = harness.context {
            $0.additionalHeaders["X-Page"] = "3"
            $0.loadValues[Page.self] = 3
            $0.downloadRequestModifier = modifier
            $0.imageTransformer = .transformer(FakeTransformer("t"))
        }
        let outcome = harness.start(context: context).outcome
        let load = try #require(await harness.loader.waitForLoads(1).first)
        #expect(load.request.additionalHeaders["x-page"] == "3")
        #expect(load.request.loadValues[Page.self] == 3)
        #expect(load.request.context?.downloadRequestModifier === modifier)
        #expect(load.request.context?.imageCoder == nil && load.request.context?.imageTransformer.isInherited == true)
        load.succeed()
        _ = try await outcome.image()
    }

    @Test(.timeLimit(.minutes(1)))
    func `A plain context gives the loader nothing`() async throws {
        let harness = ManagerHarness()
        let outcome = harness.start(context: harness.context { $0[Note.self] = 1 }).outcome
        let load = try #require(await harness.loader.waitForLoads(1).first)
        #expect(load.request.context == nil && load.request.additionalHeaders.fields.isEmpty)
        #expect(load.request.loadValues.isEmpty)
        load.succeed()
        _ = try await outcome.image()
    }

    private static let changes: [(String, Change)] = [
        ("header", { $0.additionalHeaders["X"] = "1" }),
        ("value", { $0.loadValues[Page.self] = 1 }),
        ("request modifier", { $0.downloadRequestModifier = DownloadRequestModifier { $0 } }),
        ("response modifier", { $0.downloadResponseModifier = DownloadResponseModifier { $0 } }),
        ("decryptor", { $0.downloadDecryptor = .base64 }),
        ("redirect handler", { $0.redirectHandler = DownloadRedirectHandler { _, next in .follow(next) } }),
        ("retry policy", { $0.retryPolicy = .never }),
    ]

    @Test(.timeLimit(.minutes(1)), arguments: Self.changes.indices)
    func `Loads with different request fields or accepted types do not share, and equal ones do`(index: Int)
        async throws
    {
        let harness = ManagerHarness()
        let changed = harness.context(Self.changes[index].1)
        let outcomes = [harness.context(), changed, changed, harness.context()].map {
            harness.start(context: $0).outcome
        }
        let loads = await harness.loader.waitForLoads(2)
        #expect(loads.count == 2, "\(Self.changes[index].0)")
        for load in loads { load.succeed() }
        for outcome in outcomes { _ = try await outcome.image() }
        #expect(harness.loader.loads.count == 2)
        #expect(await harness.manager.pipeline.becomesIdle())
    }

    @Test(.timeLimit(.minutes(1)))
    func `Loads whose contexts differ only in values that loaders do not get share`() async throws {
        let harness = ManagerHarness()
        let outcomes = (0..<3).map { number in
            harness.start(context: harness.context { $0[Note.self] = number }).outcome
        }
        await harness.loader.waitForLoads(1)[0].succeed()
        for outcome in outcomes { _ = try await outcome.image() }
        #expect(harness.loader.loads.count == 1)
    }

    @Test func `Progress readings are equal whatever the rate`() {
        let slow = LoadProgress(receivedByteCount: 1, expectedByteCount: 2, bytesPerSecond: 1)
        let fast = LoadProgress(receivedByteCount: 1, expectedByteCount: 2, bytesPerSecond: 9)
        #expect(slow == fast && slow.hashValue == fast.hashValue)
        #expect(slow != LoadProgress(receivedByteCount: 2, expectedByteCount: 2, bytesPerSecond: 1))
        #expect(LoadProgress(receivedByteCount: 1, expectedByteCount: nil).bytesPerSecond == nil)
    }
}

extension WebImageContext.TransformerChoice {
    fileprivate var isInherited: Bool { if case .inherited = self { true } else { false } }
}
