import BenchSupport
import FoundationEssentials
import Synchronization
import WebImage

/// `pipeline-bench high|fast QUALITY URLS DIRECTORY`: loads pictures as 300 pixel thumbnails through the manager, without
/// caches, and writes them as JPEG files; pictures per second, processor time, peak memory. The answers are those of the C
/// program thumbnail-pipeline.
@main struct PipelineBench {
    static func main() async throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        guard arguments.count == 4, let quality = Double(arguments[1]) else {
            Measurement.stop("usage: pipeline-bench high|fast QUALITY URLS DIRECTORY")
        }
        let urls = try InputFile.lines(arguments[2]).compactMap { URL(string: $0) }
        let run = PipelineRun(
            scaling: arguments[0] == "fast" ? .fast : .high,
            quality: quality / 100,
            directory: arguments[3]
        )
        let start = Measurement.now()
        try await run.load(urls)
        let elapsed = Measurement.now() - start
        Measurement.report("pictures", Double(urls.count) / elapsed, "1/s")
        Measurement.report("cpu", Measurement.processorTime(), "s")
        Measurement.report("peak", Measurement.peakMegabytes(), "MB")
    }
}

/// One run over a list.
struct PipelineRun: Sendable {
    /// Loads under way at once: six that are downloaded, eight that wait and two at work, as many as in the C program.
    static let width = 16

    let manager = WebImageManager(cache: NullCache(), loader: WebImageDownloader())
    let context: WebImageContext
    let encodeOptions: ImageEncodeOptions
    let directory: String

    init(scaling: ImageDecodeOptions.ScalingQuality, quality: Double, directory: String) {
        var context = WebImageContext()
        context.thumbnailPixelSize = ImageSize(width: 300, height: 300)
        var decodeOptions = ImageDecodeOptions()
        decodeOptions.scalingQuality = scaling
        context.decodeOptions = decodeOptions
        context.callbackQueue = .inline
        context.queryCacheType = ImageCacheType.none
        context.storeCacheType = ImageCacheType.none
        context.originalQueryCacheType = ImageCacheType.none
        context.originalStoreCacheType = ImageCacheType.none
        self.context = context
        var encodeOptions = ImageEncodeOptions()
        encodeOptions.compressionQuality = quality
        self.encodeOptions = encodeOptions
        self.directory = directory
    }

    /// A fixed number of tasks that take the next URL as soon as they are done with one.
    func load(_ urls: [URL]) async throws {
        let next = Counter()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<Self.width {
                group.addTask {
                    while let url = next.take(from: urls) { try await load(url) }
                }
            }
            try await group.waitForAll()
        }
    }

    /// Encodes where the picture was made, and writes on the task's thread.
    private func load(_ url: URL) async throws {
        let data = try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Data, any Error>) in
            manager.loadImage(with: url, context: context) { result in
                continuation.resume(
                    with: Result {
                        try ImageCodersManager.shared.encode(result.get().image, to: .jpeg, options: encodeOptions)
                    }
                )
            }
        }
        OutputFile.write(data, to: directory + "/" + url.lastPathComponent)
    }
}

/// Hands out the elements of a list, each once.
private final class Counter: Sendable {
    private let count = Atomic(0)

    func take(from urls: [URL]) -> URL? {
        let index = count.wrappingAdd(1, ordering: .relaxed).oldValue
        return index < urls.count ? urls[index] : nil
    }
}

/// A cache that holds nothing.
final class NullCache: ImageCaching {
    private final class Done: WebImageOperation {
        func cancel() {}
        var isCancelled: Bool { false }
    }

    func memoryImage(forKey key: String) -> Image? { nil }
    func diskEntry(forKey key: String) -> CachedImageData? { nil }

    func queryDisk(
        forKey key: String,
        priority: LoadPriority,
        completion: @escaping @Sendable (CachedImageData?) -> Void
    ) -> any WebImageOperation {
        completion(nil)
        return Done()
    }

    func store(_ request: ImageStoreRequest, completion: (@Sendable () -> Void)?) { completion?() }

    func removeImage(forKey key: String, from cacheType: ImageCacheType, completion: (@Sendable () -> Void)?) {
        completion?()
    }

    func containsImage(
        forKey key: String,
        in cacheType: ImageCacheType,
        completion: @escaping @Sendable (ImageCacheType) -> Void
    ) { completion(.none) }

    func clear(_ cacheType: ImageCacheType, completion: (@Sendable () -> Void)?) { completion?() }
}
