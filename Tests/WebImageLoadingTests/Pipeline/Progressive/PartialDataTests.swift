import FoundationEssentials
import ModelTestSupport
import Testing

@testable import WebImageLoading

/// Partial data of a body, on its way from a loader through the graph.
@Suite(.tags(.threadSanitizer)) struct PartialDataTests {
    private let loader = FakeLoader()
    private let pipeline = Pipeline()

    private func fetch(_ path: String) -> FetchWork {
        FetchWork(url: URL(fileURLWithPath: "/\(path)"), loader: loader, options: [])
    }

    private func source(_ index: Int) throws -> PartialImageData {
        try #require(loader.loads[index].request.partialData)
    }

    @Test func `A loader's partial data reaches only those who wait for it`() throws {
        let seen = Lock<[String]>([])
        func take(_ path: String) {
            pipeline.subscribe(
                to: fetch(path),
                values: .partialData { snapshot in seen.withLock { $0.append("\(path):\(snapshot.data.count)") } }
            ) { _ in
            }
        }
        pipeline.subscribe(to: fetch("a")) { _ in }
        let source = try source(0)
        #expect(!source.isWanted && pipeline.partialTakerCount == 0)
        source.update(Data([1]), expectedByteCount: 9)
        // Late subscribers get the newest.
        take("a")
        take("b")
        #expect(source.isWanted && pipeline.partialTakerCount == 2)
        source.update(Data([1, 2]), expectedByteCount: 9)
        #expect(seen.withLock { $0 } == ["a:1", "a:2"])
        for load in loader.loads { load.succeed() }
        #expect(!source.isWanted && pipeline.partialTakerCount == 0 && pipeline.runningCount == 0)
    }

    @Test func `A cancelled subscriber gets nothing more`() throws {
        let count = Lock(0)
        pipeline.subscribe(to: fetch("a")) { _ in }
        let taker = try #require(
            pipeline.subscribe(to: fetch("a"), values: .partialData { _ in count.withLock { $0 += 1 } }) { _ in }
        )
        let source = try source(0)
        source.update(Data([1]), expectedByteCount: nil)
        pipeline.unsubscribe(taker)
        source.update(Data([1, 2]), expectedByteCount: nil)
        #expect(count.withLock { $0 } == 1 && !source.isWanted && pipeline.partialTakerCount == 0)
    }

    @Test func `A restart is reported with empty data`() throws {
        let seen = Lock<[PartialImageData.Snapshot]>([])
        pipeline.subscribe(
            to: fetch("a"),
            values: .partialData { snapshot in seen.withLock { $0.append(snapshot) } }
        ) { _ in
        }
        let source = try source(0)
        source.begin()
        source.update(Data([1, 2, 3]), expectedByteCount: 5)
        source.begin()
        source.update(Data([9]), expectedByteCount: nil)
        let all = seen.withLock { $0 }
        try #require(all.count == 4)
        #expect(
            all[0].attempt == all[1].attempt && all[2].attempt == all[3].attempt && all[1].attempt != all[2].attempt
        )
        #expect(all.map(\.data.count) == [0, 3, 0, 1])
        #expect(all.map(\.expectedByteCount) == [nil, 5, nil, nil])
    }
}
