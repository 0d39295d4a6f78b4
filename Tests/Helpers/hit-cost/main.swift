// Counts what an image from memory costs a manager, with a counting malloc, and prints a line for each case:
//
//   NAME BLOCKS CLOCKS      blocks taken from the heap, and readings of the clock, in a thousand loads
//
// With `list DIRECTORY`, counts what going through a disk cache takes:
//
//   ENTRIES BYTES           the entries told, and the bytes of the heap that were in use at once beyond those before
//
// With `loads COUNT` or `downloads COUNT`, counts what so many take that wait for their turn (Queue.swift).
import CHeapCounter
import FoundationEssentials
import Glibc
import WebImage

@testable import WebImageLoading

/// Counts readings.
final class CountingClock: Sendable {
    private let count = Lock(0)
    var readings: Int { count.withLock { $0 } }
    var source: ClockSource {
        ClockSource(
            wallTime: { 0 },
            monotonicNanoseconds: {
                self.count.withLock { count in
                    count += 1
                    return UInt64(count)
                }
            }
        )
    }
}

if CommandLine.arguments.dropFirst().first == "list" {
    listEntries(in: CommandLine.arguments.last ?? "")
    exit(0)
}

if let name = CommandLine.arguments.dropFirst().first, ["loads", "downloads"].contains(name) {
    queueLoads(name, CommandLine.arguments.last.flatMap { Int($0) } ?? 0)
    exit(0)
}

let clock = CountingClock()
let cache = ImageCache(directory: CommandLine.arguments.dropFirst().first ?? "/nonexistent")
let manager = WebImageManager(
    cache: cache,
    loader: ImageLoadersManager(loaders: []),
    pipeline: Pipeline(clock: clock.source),
    clock: clock.source
)
guard let url = URL(string: "http://host/picture.png"),
    let bitmap = try? Bitmap.allocate(width: 1, height: 1, pixelFormat: .rgb8)
else { exit(1) }
var request = ImageStoreRequest(key: url.absoluteString, image: Image(bitmap: bitmap))
request.cacheType = .memory
cache.store(request, completion: nil)
var context = WebImageContext()
context.callbackQueue = .inline
let plain = context
var observed = context
observed.observer = LoadRecording()
let withObserver = observed

func measure(_ name: String, _ body: () -> Void) {
    for _ in 0..<100 { body() }
    let (blocks, readings) = (bench_allocation_count(), clock.readings)
    for _ in 0..<1000 { body() }
    print(name, bench_allocation_count() - blocks, clock.readings - readings)
}

let load: () -> Void = { manager.loadImage(with: url, context: plain) { _ in } }
// The whole of it without the manager: what there was to count before anybody could observe.
measure("lookup") { _ = cache.memoryImage(forKey: url.absoluteString) }
measure("before") { load() }
measure("observed") { manager.loadImage(with: url, context: withObserver) { _ in } }
measure("after") { load() }
manager.observer = LoadRecording()
measure("observed-manager") { load() }
manager.observer = nil
measure("last") { load() }
let validators = CacheValidators(
    record: HTTPCacheRecord(
        statusCode: 200,
        headers: ["cache-control": "max-age=60", "etag": "\"an entity tag of more than fifteen bytes\""],
        requestTime: 0,
        responseTime: 0
    )
)
for number in 0..<100 {
    var request = ImageStoreRequest(key: url.absoluteString + (number == 0 ? "" : "\(number)"), data: Data([1]))
    request.validators = validators
    cache.store(request, completion: nil)
}
// What is counted is all threads' doing.
_ = cache.prepareForExit(within: 20)
let key = url.absoluteString
measure("known") { if cache.knownValidators(forKey: key)?.validators?.etag == nil { exit(1) } }
measure("unknown") { if cache.knownValidators(forKey: "http://host/other.png") != nil { exit(1) } }
