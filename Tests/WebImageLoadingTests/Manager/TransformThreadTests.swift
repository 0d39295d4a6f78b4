import CTestSupport
import FoundationEssentials
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImageLoading

/// Notes whether it runs on the thread that made it.
private final class ThreadTransformer: ImageTransformer {
    let transformerKey: String
    private let maker = ctest_thread_number()
    private let runs = Lock<[Bool]>([])

    init(_ key: String) { transformerKey = key }

    /// For each run, whether it was on that thread.
    var areOnMakersThread: [Bool] { runs.withLock { $0 } }

    func transform(_ image: Image) throws(WebImageError) -> Image {
        let isHere = maker == ctest_thread_number()
        runs.withLock { $0.append(isHere) }
        return Image(bitmap: image.bitmap, scale: image.scale, metadata: image.metadata)
    }
}

/// The threads that transformers run on. Caches and loaders answer in the call here, so nothing but the library's own
/// queues takes the work away from the caller.
@Suite(.tags(.threadSanitizer, .addressSanitizer), .timeLimit(.minutes(1))) struct TransformThreadTests {
    enum Source: CaseIterable { case loader, disk, memory, thumbnail }

    private func harness(_ source: Source) -> ManagerHarness {
        let harness = ManagerHarness.answering()
        let key = harness.url.absoluteString
        if source == .disk || source == .thumbnail {
            harness.cache.edit { $0.disk[key] = CachedImageData(data: Data("picture".utf8)) }
        }
        if source == .memory { harness.cache.edit { $0.memory[key] = .tiny() } }
        return harness
    }

    /// What became of a load whose caller's thread stayed until its end, so that no other thread has its number.
    struct Run: Sendable {
        /// Whether the picture is transformed; nil when there was an error, or no end.
        var isTransformed: Bool?
        var isInTheCall = false
        /// For each transformer, whether its runs were on the caller's thread.
        var areOnCallersThread: [[Bool]] = []
    }

    private func run(_ source: Source, _ options: WebImageOptions = []) async -> Run {
        let harness = harness(source)
        return await withCheckedContinuation { continuation in
            startThread {
                let transformers = [ThreadTransformer("a"), ThreadTransformer("b")]
                let context = harness.context {
                    $0.imageTransformer = .transformer(PipelineTransformer(transformers))
                    $0.originalQueryCacheType = .all
                    if source == .thumbnail { $0.thumbnailPixelSize = ImageSize(width: 3, height: 3) }
                }
                let (run, end) = (Lock(Run()), Latch())
                harness.manager.loadImage(with: harness.url, options: options, context: context) { result in
                    run.withLock { $0.isTransformed = try? result.get().image.metadata.isTransformed }
                    end.open()
                }
                let isInTheCall = run.withLock { $0.isTransformed != nil }
                _ = end.wait(seconds: 20)
                var result = run.withLock { $0 }
                result.isInTheCall = isInTheCall
                result.areOnCallersThread = transformers.map(\.areOnMakersThread)
                continuation.resume(returning: result)
            }
        }
    }

    @Test(arguments: Source.allCases)
    func `A transformer never runs on the caller's thread, wherever the picture comes from`(source: Source) async {
        let run = await run(source)
        #expect(run.isTransformed == true && run.areOnCallersThread == [[false], [false]])
    }

    @Test(arguments: [Source.disk, .thumbnail])
    func `Asked to deliver what is on disk before it returns, a load transforms on the caller's thread`(source: Source)
        async
    {
        let run = await run(source, .queryDiskDataSync)
        #expect(run.isTransformed == true && run.isInTheCall, "the result is there when the call returns")
        #expect(run.areOnCallersThread == [[true], [true]])
    }

    @Test(arguments: [Source.loader, .memory])
    func `What is not on disk is transformed on other threads also then`(source: Source) async {
        let run = await run(source, .queryDiskDataSync)
        #expect(run.isTransformed == true && run.areOnCallersThread == [[false], [false]])
    }
}
