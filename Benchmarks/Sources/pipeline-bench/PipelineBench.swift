import BenchSupport
import Dispatch
import FoundationEssentials
import Synchronization
import WebImage

/// `pipeline-bench high|fast QUALITY URLS DIRECTORY`: loads pictures as 300 pixel thumbnails through the manager, without
/// caches, and writes them as JPEG files; pictures per second, processor time, peak memory. The answers are those of the C
/// program thumbnail-pipeline.
@main struct PipelineBench {
    static func main() throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        guard arguments.count == 4, let quality = Double(arguments[1]) else {
            Measurement.stop("usage: pipeline-bench high|fast QUALITY URLS DIRECTORY")
        }
        let pictures = try InputFile.lines(arguments[2]).compactMap(Picture.init)
        let run = PipelineRun(
            scaling: arguments[0] == "fast" ? .fast : .high,
            quality: quality / 100,
            directory: arguments[3]
        )
        let start = Measurement.now()
        run.load(pictures)
        let elapsed = Measurement.now() - start
        Measurement.report("pictures", Double(pictures.count) / elapsed, "1/s")
        Measurement.report("cpu", Measurement.processorTime(), "s")
        Measurement.report("peak", Measurement.peakMegabytes(), "MB")
    }
}

/// A line of the list.
struct Picture: Sendable {
    let url: URL
    /// The name of the result's file.
    let name: String

    init?(_ line: String) {
        guard let url = URL(string: line) else { return nil }
        (self.url, name) = (url, url.lastPathComponent)
    }
}

/// One run over a list.
struct PipelineRun: Sendable {
    /// The most loads under way at once: six that are downloaded, two at work, and four that wait; up to eight wait in the C program.
    static let width = 12

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

    /// Keeps loads under way until the list ends, and waits for it. They start in groups, because a start wakes the thread that downloads.
    func load(_ pictures: [Picture]) {
        guard !pictures.isEmpty else { return }
        let queue = GroupQueue(pictures, width: Self.width)
        let end = DispatchSemaphore(value: 0)
        for picture in queue.first() { load(picture, queue, end) }
        end.wait()
    }

    /// Loads, encodes and writes one, and starts the next group if it is time. Encodes and writes where the picture was made.
    private func load(_ picture: Picture, _ queue: GroupQueue, _ end: DispatchSemaphore) {
        manager.loadImage(with: picture.url, context: context) { result in
            do {
                let image = try result.get().image
                let data = try ImageCodersManager.shared.encode(image, to: .jpeg, options: encodeOptions)
                OutputFile.write(data, to: directory + "/" + picture.name)
                let (next, isLast) = queue.afterEnd()
                for picture in next { load(picture, queue, end) }
                if isLast { end.signal() }
            } catch {
                Measurement.stop("\(error)")
            }
        }
    }
}

/// Hands out the pictures of a list: first as many as may be under way, then half as many whenever so many have ended.
private final class GroupQueue: Sendable {
    private let pictures: [Picture]
    private let width: Int
    private let state = Mutex((next: 0, ended: 0))

    init(_ pictures: [Picture], width: Int) {
        (self.pictures, self.width) = (pictures, width)
    }

    func first() -> ArraySlice<Picture> {
        state.withLock { $0.next = min(width, pictures.count) }
        return pictures.prefix(width)
    }

    /// Returns what starts after another load has ended, and whether it was the last.
    func afterEnd() -> (next: ArraySlice<Picture>, isLast: Bool) {
        state.withLock { state in
            state.ended += 1
            guard state.ended % (width / 2) == 0 else { return ([], state.ended == pictures.count) }
            let end = min(state.next + width / 2, pictures.count)
            defer { state.next = end }
            return (pictures[state.next..<end], state.ended == pictures.count)
        }
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
