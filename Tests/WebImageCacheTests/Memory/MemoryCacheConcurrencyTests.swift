import ModelTestSupport
import TestSupport
import Testing
import WebImageCache

@Suite(.tags(.threadSanitizer)) struct MemoryCacheConcurrencyTests {
    @Test(arguments: [false, true])
    func `With many threads limits hold, images are right, and each is evicted once`(weak: Bool) async {
        let cache = MemoryCache(
            maxMemoryCost: 500,
            maxMemoryCount: 80,
            usesWeakCache: weak,
            respondsToMemoryPressure: false
        )
        let released = Lock(0)
        let evicted = Lock(0)
        let stored = Lock(0)
        cache.evictionHandler = { _ in evicted.withLock { $0 += 1 } }
        await withTaskGroup(of: Void.self) { group in
            for worker in 0..<6 {
                group.addTask {
                    var random = SeededGenerator(seed: UInt64(worker))
                    for step in 0..<4000 {
                        let number = random.below(200)
                        let key = "key-\(number)"
                        if let image = cache.image(forKey: key) {
                            // The scale encodes the key it was stored under.
                            #expect(image.scale == Double(number + 1))
                        } else {
                            let image = Image.tiny { released.withLock { $0 += 1 } }.with(scale: Double(number + 1))
                            cache.setImage(image, forKey: key, cost: 1 + number % 20)
                            stored.withLock { $0 += 1 }
                        }
                        if step % 64 == 0 {
                            #expect(cache.totalCost <= 500)
                            #expect(cache.count <= 80)
                        }
                        if step % 500 == 0 { cache.removeImage(forKey: key) }
                        if step % 1000 == 0, worker == 0 { cache.removeAll() }
                        if step % 700 == 0 { cache.didReceiveMemoryWarning() }
                    }
                }
            }
        }
        cache.removeAll()
        #expect(cache.count == 0)
        #expect(released.withLock { $0 } == stored.withLock { $0 })
        if !weak { #expect(evicted.withLock { $0 } == stored.withLock { $0 }) }
    }

    @Test func `Limits and handler can be changed while others read and write`() async {
        let cache = MemoryCache(maxMemoryCost: 1000, respondsToMemoryPressure: false)
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for number in 0..<2000 {
                    cache.maxMemoryCost = 100 + number % 1000
                    cache.usesWeakCache = number % 3 == 0
                    if number % 2 == 0 { cache.evictionHandler = { _ in } } else { cache.evictionHandler = nil }
                }
            }
            for worker in 0..<3 {
                group.addTask {
                    for number in 0..<3000 {
                        let key = MemoryCacheKey("\((number * 7 + worker) % 300)")
                        if cache.image(forKey: key) == nil { cache.setImage(.tiny(), forKey: key, cost: 10) }
                    }
                }
            }
        }
        #expect(cache.totalCost <= cache.maxMemoryCost)
    }
}
