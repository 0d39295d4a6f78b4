import BenchSupport
import FoundationEssentials
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

    let manager = WebImageManager(cache: NoCache(), loader: WebImageDownloader())
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

    func load(_ urls: [URL]) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, url) in urls.enumerated() {
                if index >= Self.width { try await group.next() }
                group.addTask { try await load(url) }
            }
            try await group.waitForAll()
        }
    }

    private func load(_ url: URL) async throws {
        let image = try await manager.image(with: url, context: context)
        let data = try await image.encoded(as: .jpeg, options: encodeOptions)
        OutputFile.write(data, to: directory + "/" + url.lastPathComponent)
    }
}

/// A cache that holds nothing.
final class NoCache: ImageCaching {
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

    func store(
        _ image: Image?,
        data: Data?,
        forKey key: String,
        to cacheType: ImageCacheType,
        encodeOptions: ImageEncodeOptions,
        completion: (@Sendable () -> Void)?
    ) {
        completion?()
    }

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
