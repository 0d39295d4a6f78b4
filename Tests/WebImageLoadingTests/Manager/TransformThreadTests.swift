import CTestSupport
import FoundationEssentials
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImageLoading

/// Records whether it runs on the thread that made it.
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

/// The threads that transformers run on. Caches and loaders respond synchronously here, so only the library's own
/// queues move the work off the caller's thread.
@Suite(.tags(.threadSanitizer, .addressSanitizer), .timeLimit(.minutes(10))) struct TransformThreadTests {
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

    /// The outcome of a load whose caller's thread lived until its end, so that no other thread has its number.
    struct Run: Sendable {
        /// A Boolean value that indicates whether the image is transformed; nil when there was an error, or no end.
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
    func `A transformer never runs on the caller's thread, whatever the image's source`(source: Source) async {
        let run = await run(source)
        #expect(run.isTransformed == true && run.areOnCallersThread == [[false], [false]])
    }

    @Test(arguments: [Source.disk, .thumbnail])
    func `A load with queryDiskDataSync transforms a disk hit on the caller's thread`(source: Source)
        async
    {
        let run = await run(source, .queryDiskDataSync)
        #expect(run.isTransformed == true && run.isInTheCall, "the result is there when the call returns")
        #expect(run.areOnCallersThread == [[true], [true]])
    }

    @Test(arguments: [Source.loader, .memory])
    func `With that option, other images are still transformed on other threads`(source: Source) async {
        let run = await run(source, .queryDiskDataSync)
        #expect(run.isTransformed == true && run.areOnCallersThread == [[false], [false]])
    }
}
