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
    /// Loads under way at once, as many as in the run of the command: six that are downloaded, two at work, and two that wait.
    static let width = 10

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

    /// Keeps a fixed number of loads under way. The end of one starts the next.
    func load(_ urls: [URL]) async throws {
        let next = Counter()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<Self.width {
                group.addTask {
                    try await withCheckedThrowingContinuation { loadNext(of: urls, next, $0) }
                }
            }
            try await group.waitForAll()
        }
    }

    /// Loads, encodes and writes what is next, and goes on, until nothing is left. Encodes and writes where the picture was made.
    private func loadNext(of urls: [URL], _ next: Counter, _ end: CheckedContinuation<Void, any Error>) {
        guard let url = next.take(from: urls) else { return end.resume() }
        manager.loadImage(with: url, context: context) { result in
            do {
                let image = try result.get().image
                let data = try ImageCodersManager.shared.encode(image, to: .jpeg, options: encodeOptions)
                OutputFile.write(data, to: directory + "/" + url.lastPathComponent)
                loadNext(of: urls, next, end)
            } catch {
                end.resume(throwing: error)
            }
        }
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
