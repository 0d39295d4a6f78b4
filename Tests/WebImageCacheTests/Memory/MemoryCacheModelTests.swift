import ModelTestSupport
import TestSupport
import Testing
import WebImageCache

/// Random operations, beside a dictionary of the last stores.
@Suite(.tags(.threadSanitizer)) struct MemoryCacheModelTests {
    @Test(arguments: [UInt64(1), 2, 3, 4], [false, true])
    func `Only the last stored image is served, and both limits hold`(seed: UInt64, weak: Bool) {
        var random = SeededGenerator(seed: seed)
        let cache = MemoryCache(
            maxMemoryCost: 2000,
            maxMemoryCount: 60,
            usesWeakCache: weak,
            respondsToMemoryPressure: false
        )
        let evicted = Lock<[ObjectIdentifier: Int]>([:])
        // Kept alive, so that no two images have the same identifier.
        var all: [Image] = []
        var model: [String: Image] = [:]
        cache.evictionHandler = { eviction in
            evicted.withLock { $0[ObjectIdentifier(eviction.image), default: 0] += 1 }
        }
        for _ in 0..<TestEffort.rounds(6000) {
            let key = "key-\(random.below(30) * random.below(10))"
            switch random.below(100) {
            case 0..<40:
                let image = Image.tiny()
                all.append(image)
                cache.setImage(image, forKey: key, cost: random.below(150))
                model[key] = image
            case 40..<85:
                if let found = cache.image(forKey: key) { #expect(found === model[key]) }
            case 85..<92:
                cache.removeImage(forKey: key)
                model[key] = nil
                #expect(cache.image(forKey: key) == nil)
            case 92..<94: cache.maxMemoryCost = 500 + random.below(2000)
            case 94..<96: cache.maxMemoryCount = 1 + random.below(60)
            case 96..<98: cache.trim(toCost: random.below(2000))
            case 98: cache.didReceiveMemoryWarning()
            default:
                cache.removeAll()
                model.removeAll()
                #expect(cache.count == 0 && cache.totalCost == 0)
            }
            #expect(cache.totalCost <= cache.maxMemoryCost)
            #expect(cache.count <= cache.maxMemoryCount)
        }
        cache.removeAll()
        let counts = evicted.withLock { $0 }
        guard !weak else { return }
        // Without the weak level an image enters once and leaves once.
        #expect(counts.values.allSatisfy { $0 == 1 })
        #expect(counts.count == all.count)
    }
}
