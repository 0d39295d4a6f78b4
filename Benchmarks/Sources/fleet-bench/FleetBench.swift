import BenchSupport
import FoundationEssentials
import Glibc
import WebImage
import WebImageFleet

/// What a hit in a store costs that machines share, and what a hit in memory costs with and without such a store.
///
/// `fleet-bench fill URL COUNT BYTES`: stores entries.
/// `fleet-bench read URL COUNT DIRECTORY WIDTH`: reads each entry once, so many at once, by a machine that has none of them: microseconds
/// of a hit (one half and 99 % take at most so long), hits per second. DIRECTORY is that of its disk cache; `/nonexistent` for none.
/// `fleet-bench fault URL ORIGIN DIRECTORY RATE`: loads images while the store fails, see ``FaultLoad``: milliseconds of a load before the
/// fault, in the first second and afterwards, seconds until the store is used again, and errors.
/// `fleet-bench memory COUNT ROUNDS`: loads images in memory by managers with and without a store; nanoseconds and allocations of a load.
@main struct FleetBench {
    static func main() async throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        switch (arguments.first, arguments.count) {
        case ("fill", 4): try await fill(arguments[1], Int(arguments[2]) ?? 0, bytes: Int(arguments[3]) ?? 0)
        case ("read", 5):
            try read(arguments[1], Int(arguments[2]) ?? 0, directory: arguments[3], width: Int(arguments[4]) ?? 1)
        case ("fault", 5):
            let local = ImageCache(namespace: "fleet-bench", directory: arguments[3])
            let cache = TieredImageCache(local: local, remote: try RemoteImageStore(redis: arguments[1]))
            let other = ImageCache(namespace: "fleet-bench-without", directory: arguments[3])
            FaultLoad(cache, withoutStore: other, origin: arguments[2]).run(rate: Double(arguments[4]) ?? 1)
        case ("memory", 3): try loadsInMemory(Int(arguments[1]) ?? 0, rounds: Int(arguments[2]) ?? 1)
        default:
            Measurement.stop(
                "usage: fleet-bench fill URL COUNT BYTES | read URL COUNT DIRECTORY WIDTH"
                    + " | fault URL ORIGIN DIRECTORY RATE | memory COUNT ROUNDS"
            )
        }
    }

    private static func key(_ number: Int) -> String {
        "https://pictures.example.com/albums/2024/05/photo-\(number).jpg"
    }

    private static func cache(_ url: String, directory: String) throws -> TieredImageCache {
        let local = ImageCache(namespace: "fleet-bench", directory: directory)
        return TieredImageCache(local: local, remote: try RemoteImageStore(redis: url, timeout: 1))
    }

    private static func fill(_ url: String, _ count: Int, bytes: Int) async throws {
        var directory = Array("/tmp/fleet-bench-XXXXXX".utf8CString)
        guard mkdtemp(&directory) != nil else { Measurement.stop("no directory") }
        let path = String(decoding: directory.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        defer { try? FileManager.default.removeItem(atPath: path) }
        let cache = try cache(url, directory: path)
        let data = Data((0..<bytes).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) })
        for number in 0..<count {
            var request = ImageStoreRequest(key: key(number), data: data)
            request.cacheType = .disk
            request.sharingScope = "bench"
            cache.store(request, completion: nil)
            // What waits has a limit, beyond which it is dropped.
            if number % 100 == 99 || number == count - 1 { await cache.flush() }
        }
    }

    private static func read(_ url: String, _ count: Int, directory: String, width: Int) throws {
        let cache = try cache(url, directory: directory)
        let reader = Reader(cache, keys: (0..<count).map(key))
        let start = Measurement.now()
        let times = reader.run(width: width).sorted()
        let seconds = Measurement.now() - start
        Measurement.report("median", times[times.count / 2] * 1e6, "us")
        Measurement.report("p99", times[times.count * 99 / 100] * 1e6, "us")
        Measurement.report("rate", Double(count) / seconds, "per second")
    }

    private static func loadsInMemory(_ count: Int, rounds: Int) throws {
        let local = ImageCache(namespace: "fleet-bench", directory: "/nonexistent", coder: nil)
        let urls = (0..<count).compactMap { URL(string: key($0)) }
        for url in urls { local.storeToMemory(tinyImage(), forKey: url.absoluteString) }
        let store = try RemoteImageStore(redis: "redis://127.0.0.1:1")
        let managers = [
            WebImageManager(cache: local), WebImageManager(cache: TieredImageCache(local: local, remote: store)),
        ]
        var context = WebImageContext()
        context.callbackQueue = .inline
        var best = [Double.infinity, .infinity]
        var blocks = [0.0, 0.0]
        for _ in 0..<rounds {
            for (number, manager) in managers.enumerated() {
                let (start, before) = (Measurement.now(), Measurement.allocations())
                for url in urls { manager.loadImage(with: url, context: context) { _ in } }
                best[number] = min(best[number], (Measurement.now() - start) / Double(count))
                blocks[number] = Double(Measurement.allocations() - before) / Double(count)
            }
        }
        for (name, number) in [("without", 0), ("with", 1)] {
            Measurement.report(name, best[number] * 1e9, "ns")
            Measurement.report("\(name)-allocations", blocks[number], "per load")
        }
    }

    private static func tinyImage() -> Image {
        let storage = PixelStorage(adopting: .allocate(byteCount: 4, alignment: 4), byteCount: 4) { base, _ in
            base.deallocate()
        }
        return Image(bitmap: Bitmap(width: 1, height: 1, bytesPerRow: 4, pixelFormat: .rgb8, storage: storage))
    }
}

/// Reads entries, a number of them at once; each that ends begins the next.
private final class Reader: @unchecked Sendable {
    // Sendable because everything but the constants is used with `mutex` held.
    private let cache: TieredImageCache
    private let keys: [String]
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let end = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
    private var next = 0
    private var times: [Double] = []

    init(_ cache: TieredImageCache, keys: [String]) {
        (self.cache, self.keys) = (cache, keys)
        times.reserveCapacity(keys.count)
        pthread_mutex_init(mutex, nil)
        sem_init(end, 0, 0)
    }

    /// Returns the seconds of each read.
    func run(width: Int) -> [Double] {
        for _ in 0..<width { begin() }
        sem_wait(end)
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return times
    }

    private func begin() {
        pthread_mutex_lock(mutex)
        let number = next
        next += 1
        pthread_mutex_unlock(mutex)
        guard number < keys.count else { return }
        let start = Measurement.now()
        _ = cache.queryDisk(ImageCacheQuery(key: keys[number], sharingScope: "bench")) { [self] entry in
            let time = Measurement.now() - start
            guard entry != nil else { Measurement.stop("\(keys[number]) is not in the store") }
            pthread_mutex_lock(mutex)
            times.append(time)
            let isLast = times.count == keys.count
            pthread_mutex_unlock(mutex)
            if isLast { sem_post(end) } else { begin() }
        }
    }
}
