import BenchSupport
import Dispatch
import FoundationEssentials
import Synchronization
import WebImage

/// `cold-load-bench AT_ONCE URLS DIRECTORY`: loads each URL of the list through a manager whose cache knows none of them, into memory
/// and a new directory. Microseconds of processor time per load and, with the library that counts them, blocks of the heap per load.
/// The arguments and the answers of the C program cold-load.
@main struct ColdLoadBench {
    /// Loads before those that are measured: threads, connections, and what else is made once.
    static let first = 16

    static func main() async throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        guard arguments.count == 3, let atOnce = Int(arguments[0]) else {
            Measurement.stop("usage: cold-load-bench AT_ONCE URLS DIRECTORY")
        }
        let lines = try InputFile.lines(arguments[1])
        let cache = ImageCache(directory: arguments[2])
        let manager = WebImageManager(cache: cache, loader: WebImageDownloader())
        await load(lines.prefix(first).map { $0 + "?first" }, atOnce: atOnce, manager: manager)
        await cache.flush()

        let start = Measurement.now()
        let processorTime = Measurement.processorTime()
        let kernelTime = Measurement.kernelTime()
        let blocks = Measurement.allocations()
        await load(lines, atOnce: atOnce, manager: manager)
        await cache.flush()
        let count = Double(lines.count)
        Measurement.report("blocks", Double(Measurement.allocations() - blocks) / count, "blocks")
        Measurement.report("cpu", (Measurement.processorTime() - processorTime) * 1e6 / count, "us")
        Measurement.report("kernel", (Measurement.kernelTime() - kernelTime) * 1e6 / count, "us")
        Measurement.report("wall", (Measurement.now() - start) * 1e6 / count, "us")
        Measurement.report("peak", Measurement.peakMegabytes(), "MB")
    }

    private static func load(_ lines: [String], atOnce: Int, manager: WebImageManager) async {
        let lanes = Lanes(urls: lines.compactMap { URL(string: $0) }, manager: manager)
        await withCheckedContinuation { continuation in
            lanes.run(atOnce) { continuation.resume() }
        }
    }
}

/// So many loads at once, each of which starts the next one in its completion: no task is woken in between.
private final class Lanes: Sendable {
    private let urls: [URL]
    private let manager: WebImageManager
    private let context: WebImageContext
    private let next = Atomic(0)
    private let group = DispatchGroup()

    init(urls: [URL], manager: WebImageManager) {
        self.urls = urls
        self.manager = manager
        var context = WebImageContext()
        context.callbackQueue = .inline
        self.context = context
    }

    func run(_ count: Int, completion: @escaping @Sendable () -> Void) {
        for _ in 0..<count { group.enter() }
        group.notify(queue: .global(), execute: completion)
        for _ in 0..<count { step() }
    }

    private func step() {
        let index = next.wrappingAdd(1, ordering: .relaxed).oldValue
        guard index < urls.count else { return group.leave() }
        manager.loadImage(with: urls[index], context: context) { [self] result in
            switch result {
            case .success(let loaded) where loaded.cacheType == .none: step()
            case .success(let loaded): Measurement.stop("\(urls[index]): came from \(loaded.cacheType)")
            case .failure(let error): Measurement.stop("\(urls[index]): \(error)")
            }
        }
    }
}
