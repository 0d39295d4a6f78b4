import Glibc
import WebImage

/// How often the memory cache has what is asked for, beside other policies: `name<TAB>value<TAB>unit` lines.
///
/// `hit-ratio-bench [SCALE]`: 1 is a million requests per trace, the default 0.2.
@main struct HitRatioBench {
    static func main() {
        let scale = CommandLine.arguments.dropFirst().first.flatMap(Double.init) ?? 0.2
        var sums: [String: Double] = [:]
        var worst = Double.infinity
        var runs = 0.0
        for trace in CacheTrace.all(scale: scale) {
            for percent in [1, 5, 10] {
                let capacity = trace.footprint * percent / 100
                var webImage = MemoryCacheSimulation(capacity: capacity, trace: trace)
                var lru = ReferenceLRU(capacity: capacity, trace: trace)
                var arc = ReferenceARC(capacity: capacity, trace: trace)
                var tinyLFU = ReferenceTinyLFU(capacity: capacity, trace: trace)
                let ratios = [
                    ("webimage", trace.hitRatio(&webImage)), ("lru", trace.hitRatio(&lru)),
                    ("arc", trace.hitRatio(&arc)), ("w-tinylfu", trace.hitRatio(&tinyLFU)),
                ]
                for (policy, ratio) in ratios {
                    print("hit-ratio/\(trace.name)/\(percent)%/\(policy)", percentage(ratio), "%", separator: "\t")
                    sums[policy, default: 0] += ratio
                }
                worst = min(worst, ratios[0].1 / max(ratios[1].1, ratios[2].1))
                runs += 1
            }
        }
        for (policy, sum) in sums.sorted(by: { $0.key < $1.key }) {
            print("hit-ratio/mean/\(policy)", percentage(sum / runs), "%", separator: "\t")
        }
        let rounded = (worst * 1000).rounded() / 1000
        print("hit-ratio/worst-against-best-of-lru-and-arc", rounded, "x", separator: "\t")
    }

    static func percentage(_ ratio: Double) -> Double { (ratio * 10000).rounded() / 100 }
}

/// The memory cache as a program uses it.
struct MemoryCacheSimulation: SimulatedCache {
    private let cache: MemoryCache
    private let keys: [MemoryCacheKey]
    private let image: Image

    init(capacity: Int, trace: CacheTrace) {
        cache = MemoryCache(maxMemoryCost: capacity, respondsToMemoryPressure: false)
        keys = trace.costs.indices.map { MemoryCacheKey("https://example.com/picture/\($0)") }
        let storage = PixelStorage(adopting: .allocate(byteCount: 4, alignment: 4), byteCount: 4) { base, _ in
            base.deallocate()
        }
        image = Image(bitmap: Bitmap(width: 1, height: 1, bytesPerRow: 4, pixelFormat: .rgb8, storage: storage))
    }

    mutating func access(_ item: Int, cost: Int) -> Bool {
        if cache.image(forKey: keys[item]) != nil { return true }
        cache.setImage(image, forKey: keys[item], cost: cost)
        return false
    }
}
