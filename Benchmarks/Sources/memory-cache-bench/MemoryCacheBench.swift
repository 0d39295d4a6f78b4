import CAllocationCounter
import Glibc
import WebImage

/// What a memory cache costs: `name<TAB>value<TAB>unit` lines; hits by the best of many short runs, the rest by the median of
/// seven long ones.
///
/// `memory-cache-bench [PICTURES…]`: how many are in the cache; 100, 1000, 10 000 and 100 000 by default.
@main struct MemoryCacheBench {
    static let rounds = 7
    static let lookups = 2_000_000
    static let shortRounds = 60
    static let shortLookups = 100_000

    static func main() {
        let sizes = CommandLine.arguments.dropFirst().compactMap { Int($0) }
        for size in sizes.isEmpty ? [100, 1_000, 10_000, 100_000] : sizes where size > 0 { measure(size) }
        measureLoads(10_000)
    }

    static func measure(_ size: Int) {
        let image = tinyImages(size)
        let names = (0..<size).map { "https://pictures.example.com/albums/2024/05/photo-\($0)-1600x1200.jpg" }
        // Other instances of the same strings: what a caller who built the URL anew looks up with.
        let copies = names.map { String(decoding: Array($0.utf8), as: UTF8.self) }
        let keys = copies.map { MemoryCacheKey($0) }
        let order = shuffled(size)
        // Just full, so that the policy has its whole work to do.
        let cache = MemoryCache(maxMemoryCost: size * 100, respondsToMemoryPressure: false)
        for index in 0..<size + size / 10 {
            cache.setImage(image[index % size], forKey: names[index % size] + (index < size ? "" : "+"), cost: 100)
        }
        for index in 0..<size { cache.setImage(image[index], forKey: names[index], cost: 100) }
        let label = size >= 1000 ? "\(size / 1000)k" : "\(size)"

        var byString: [Double] = []
        var byKey: [Double] = []
        var missed: [Double] = []
        var two: [Times] = []
        var one: [Times] = []
        var same: [Times] = []
        // A thread has strings of its own, as if it had built its URLs itself.
        let own = [copies, names.map { String(decoding: Array($0.utf8), as: UTF8.self) }]
        let halves = [Array(order[..<(size / 2)]), Array(order[(size / 2)...])]
        let short = Double(lookups) / Double(shortLookups)
        // A short run begins where the one before ended, so that all pictures have their turn.
        for round in 0..<shortRounds {
            let start = round * shortLookups % size
            byString.append(time { hits(cache, copies, order, shortLookups, from: start) } * short)
            byKey.append(time { hits(cache, keys, order, shortLookups, from: start) } * short)
        }
        for _ in 0..<rounds {
            missed.append(time { for _ in 0..<lookups / 4 { _ = cache.image(forKey: "https://not.there") } } * 4)
        }
        // Short runs, and the best of many: whatever else the machine does can only add to one.
        for _ in 0..<shortRounds {
            one.append(onThreads(1) { hits(cache, own[$0], halves[$0], shortLookups) })
            two.append(onThreads(2) { hits(cache, own[$0], halves[$0], shortLookups) })
            same.append(onThreads(2) { hits(cache, own[$0], order, shortLookups, from: $0 * size / 2) })
        }
        print("memory-hit-string-\(label)", median([byString.min() ?? 0]), "ns", separator: "\t")
        print("memory-hit-prehashed-\(label)", median([byKey.min() ?? 0]), "ns", separator: "\t")
        print("memory-miss-\(label)", median(missed), "ns", separator: "\t")
        report("memory-hit-2-threads", label, one, two)
        report("memory-hit-2-threads-same-images", label, one, same)
        print("memory-hit-allocations-\(label)", allocations(cache, copies, order), "per hit", separator: "\t")
        insertions(label, size, image)
    }

    /// How much two threads get done compared with one.
    static func report(_ name: String, _ label: String, _ one: [Times], _ two: [Times]) {
        func best(_ times: [Times], _ part: (Times) -> Double) -> Double { times.map(part).min() ?? 0 }
        let factor = Double(lookups) / Double(shortLookups)
        print("\(name)-\(label)", median([best(two, \.wall) * factor]), "ns per hit and thread", separator: "\t")
        let wall = 2 * best(one, \.wall) / best(two, \.wall)
        print("\(name)-scaling-\(label)", median([wall]), "x of one thread", separator: "\t")
        let processor = 2 * best(one, \.processor) / best(two, \.processor)
        print("\(name)-scaling-by-cpu-time-\(label)", median([processor]), "x of one thread", separator: "\t")
    }

    static func insertions(_ label: String, _ size: Int, _ images: [Image]) {
        var plain: [Double] = []
        var evicting: [Double] = []
        let names = (0..<2 * size).map { "https://pictures.example.com/albums/2024/05/photo-\($0)-1600x1200.jpg" }
        for _ in 0..<rounds {
            let cache = MemoryCache(maxMemoryCost: size * 100, respondsToMemoryPressure: false)
            let fill = { (range: Range<Int>) in
                for index in range { cache.setImage(images[index % size], forKey: names[index], cost: 100) }
            }
            plain.append(time { fill(0..<size) } * Double(lookups) / Double(size))
            evicting.append(time { fill(size..<2 * size) } * Double(lookups) / Double(size))
        }
        print("memory-insert-\(label)", median(plain), "ns", separator: "\t")
        print("memory-insert-evicting-\(label)", median(evicting), "ns", separator: "\t")
    }

    @inline(never)
    static func hits(_ cache: MemoryCache, _ keys: [String], _ order: [Int], _ count: Int, from start: Int = 0) {
        var found = 0
        var position = start
        for _ in 0..<count {
            if cache.image(forKey: keys[order[position]]) != nil { found += 1 }
            position += 1
            if position == order.count { position = 0 }
        }
        guard found > 0 else { fatalError("nothing was found") }
    }

    @inline(never)
    static func hits(
        _ cache: MemoryCache,
        _ keys: [MemoryCacheKey],
        _ order: [Int],
        _ count: Int,
        from start: Int = 0
    ) {
        var found = 0
        var position = start
        for _ in 0..<count {
            if cache.image(forKey: keys[order[position]]) != nil { found += 1 }
            position += 1
            if position == order.count { position = 0 }
        }
        guard found > 0 else { fatalError("nothing was found") }
    }

    /// Blocks that a hit takes from the heap, on average over a million.
    static func allocations(_ cache: MemoryCache, _ keys: [String], _ order: [Int]) -> Double {
        let before = bench_allocation_count()
        hits(cache, keys, order, 1_000_000)
        return Double(bench_allocation_count() - before) / 1_000_000
    }

    /// Nanoseconds per lookup.
    static func time(_ clock: clockid_t = CLOCK_MONOTONIC, _ body: () -> Void) -> Double {
        var start = timespec()
        var end = timespec()
        clock_gettime(clock, &start)
        body()
        clock_gettime(clock, &end)
        return (Double(end.tv_sec - start.tv_sec) * 1e9 + Double(end.tv_nsec - start.tv_nsec)) / Double(lookups)
    }

    struct Times {
        var wall = 0.0
        /// The mean of the threads' own.
        var processor = 0.0
    }

    /// Nanoseconds per lookup while `count` threads do it.
    static func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) -> Times {
        final class Job: Sendable {
            let run: @Sendable () -> Void
            init(_ run: @escaping @Sendable () -> Void) { self.run = run }
        }
        let processor = UnsafeMutablePointer<Double>.allocate(capacity: count)
        defer { processor.deallocate() }
        let slots = Int(bitPattern: processor)
        let wall = time {
            let threads = (0..<count).map { number -> pthread_t in
                var thread = pthread_t()
                let job = Job {
                    let spent = time(CLOCK_THREAD_CPUTIME_ID) { body(number) }
                    UnsafeMutablePointer<Double>(bitPattern: slots)?[number] = spent
                }
                pthread_create(
                    &thread,
                    nil,
                    { pointer in
                        if let pointer { Unmanaged<Job>.fromOpaque(pointer).takeRetainedValue().run() }
                        return nil
                    },
                    Unmanaged.passRetained(job).toOpaque()
                )
                return thread
            }
            for thread in threads { pthread_join(thread, nil) }
        }
        return Times(wall: wall, processor: (0..<count).reduce(0) { $0 + processor[$1] } / Double(count))
    }

    static func tinyImages(_ count: Int) -> [Image] {
        (0..<count).map { _ in
            let storage = PixelStorage(adopting: .allocate(byteCount: 4, alignment: 4), byteCount: 4) { base, _ in
                base.deallocate()
            }
            return Image(bitmap: Bitmap(width: 1, height: 1, bytesPerRow: 4, pixelFormat: .rgb8, storage: storage))
        }
    }

    static func shuffled(_ count: Int) -> [Int] {
        var state: UInt64 = 88_172_645_463_325_252
        var order = Array(0..<count)
        for index in stride(from: count - 1, to: 0, by: -1) {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            order.swapAt(index, Int(state % UInt64(index + 1)))
        }
        return order
    }

    static func median(_ values: [Double]) -> Double {
        let sorted = values.sorted()
        return (sorted[sorted.count / 2] * 100).rounded() / 100
    }
}
