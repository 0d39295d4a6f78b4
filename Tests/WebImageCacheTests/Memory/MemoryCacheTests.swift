import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageCache

@Suite(.tags(.threadSanitizer)) struct MemoryCacheTests {
    private func makeCache(cost: Int = 0, count: Int = 0, weak: Bool = false) -> MemoryCache {
        MemoryCache(
            maxMemoryCost: cost,
            maxMemoryCount: count,
            usesWeakCache: weak,
            respondsToMemoryPressure: false
        )
    }

    @Test func `A stored image is found, by string and by hashed key`() {
        let cache = makeCache()
        let image = Image.tiny()
        cache.setImage(image, forKey: "a")
        #expect(cache.image(forKey: "a") === image)
        #expect(cache.image(forKey: MemoryCacheKey("a")) === image)
        #expect(cache.image(forKey: "b") == nil)
        #expect(cache.count == 1 && cache.totalCost == image.memoryCost)
    }

    @Test func `A cache has a name, and that of an image cache is its directory's`() {
        #expect(makeCache().name.isEmpty)
        let cache = MemoryCache(respondsToMemoryPressure: false, name: "avatars")
        #expect(cache.name == "avatars")
        cache.name = "icons"
        cache.setImage(.tiny(), forKey: "a")
        #expect(cache.name == "icons" && cache.count == 1)
        let images = ImageCache(namespace: "a/b", directory: TemporaryDirectory().path, coder: nil)
        #expect((images.memoryCache as? MemoryCache)?.name == "a_b")
    }

    @Test(arguments: ["", "a", "日本語のキー/画像.jpg", String(repeating: "long ", count: 100), "nul\0byte", "é"])
    func `Any string is a key`(key: String) {
        let cache = makeCache()
        let image = Image.tiny()
        cache.setImage(image, forKey: key)
        #expect(cache.image(forKey: key) === image)
        #expect(cache.image(forKey: key + "x") == nil)
        cache.removeImage(forKey: key)
        #expect(cache.image(forKey: key) == nil && cache.count == 0)
    }

    @Test func `Keys are compared by their bytes`() {
        let cache = makeCache()
        cache.setImage(.tiny(), forKey: "\u{e9}")
        #expect(cache.image(forKey: "e\u{301}") == nil)
        #expect(MemoryCacheKey("\u{e9}") != MemoryCacheKey("e\u{301}"))
        #expect(MemoryCacheKey("a") == "a")
        #expect(MemoryCacheKey("a").hashValue == MemoryCacheKey("a").hashValue)
    }

    @Test func `Keys with colliding hashes are distinguished`() {
        var table = CacheTable<Image>()
        let hash: UInt64 = 1
        let images = (0..<3).map { _ in Image.tiny() }
        for (number, key) in ["one", "two", "six"].enumerated() {
            KeyHash.withBytes(of: key) { table.insert(UInt32(number + 1), hash, $0, images[number]) }
        }
        for (number, key) in ["one", "two", "six"].enumerated() {
            let found = KeyHash.withBytes(of: key) { table.find(hash, $0) }
            #expect(found?.id == UInt32(number + 1))
            #expect(found?.value === images[number] && table.key(of: UInt32(number + 1)) == key)
        }
        let missing = KeyHash.withBytes(of: "ten") { table.find(hash, $0) }
        #expect(missing == nil)
        for id in UInt32(1)...3 {
            let removed = table.remove(id)
            #expect(removed === images[Int(id) - 1])
        }
    }

    @Test func `With room for five, the oldest of ten is evicted first`() {
        let cache = makeCache(count: 5)
        let gone = Lock<[String]>([])
        cache.evictionHandler = { eviction in gone.withLock { $0.append(eviction.key) } }
        cache.setImage(.tiny(), forKey: "Test")
        for number in 0..<10 { cache.setImage(.tiny(), forKey: "World\(number)") }
        #expect(gone.withLock { $0 } == ["Test", "World0", "World1", "World2", "World3", "World4"])
        for number in 0..<10 { #expect((cache.image(forKey: "World\(number)") != nil) == (number >= 5)) }
        cache.removeAll()
        #expect(Set(gone.withLock { $0 }).count == 11)
    }

    @Test func `An image above the limit is not stored, and the old one is removed`() {
        let cache = makeCache(cost: 100)
        cache.setImage(.tiny(), forKey: "a", cost: 10)
        cache.setImage(.tiny(), forKey: "a", cost: 101)
        #expect(cache.image(forKey: "a") == nil)
        #expect(cache.count == 0 && cache.totalCost == 0)
        cache.setImage(.tiny(), forKey: "b", cost: 100)
        #expect(cache.image(forKey: "b") != nil)
    }

    @Test(arguments: [Int.min, -1, 0, Int.max]) func `Absurd costs do no harm`(cost: Int) {
        let cache = makeCache()
        for number in 0..<100 { cache.setImage(.tiny(), forKey: "\(number)", cost: cost) }
        #expect(cache.count == 100)
        #expect(cache.totalCost >= 0)
        cache.setImage(.tiny(), forKey: "0", cost: 1)
        cache.maxMemoryCost = 1000
        #expect(cache.totalCost <= 1000)
        cache.maxMemoryCost = .min
        cache.maxMemoryCount = .min
        #expect(cache.maxMemoryCost == 0 && cache.maxMemoryCount == 0)
        cache.removeAll()
        #expect(cache.totalCost == 0)
    }

    @Test func `Limits are live`() {
        let cache = makeCache()
        for number in 0..<100 { cache.setImage(.tiny(), forKey: "\(number)", cost: 10) }
        #expect(cache.totalCost == 1000)
        cache.maxMemoryCost = 500
        #expect(cache.totalCost == 500 && cache.count == 50)
        cache.maxMemoryCount = 7
        #expect(cache.count == 7)
        #expect(cache.maxMemoryCost == 500 && cache.maxMemoryCount == 7)
        cache.maxMemoryCount = 0
        cache.maxMemoryCost = 0
        for number in 0..<100 { cache.setImage(.tiny(), forKey: "\(number)", cost: 10) }
        #expect(cache.count == 100)
    }

    @Test func `Trimming keeps the most recently used images`() {
        let cache = makeCache()
        for number in 0..<10 { cache.setImage(.tiny(), forKey: "\(number)", cost: 10) }
        _ = cache.image(forKey: "0")
        cache.trim(toCost: 30)
        #expect(cache.totalCost == 30)
        #expect(cache.image(forKey: "0") != nil && cache.image(forKey: "9") != nil && cache.image(forKey: "1") == nil)
        cache.trim(toCost: -1)
        #expect(cache.count == 0)
    }

    @Test func `Storing nil removes`() {
        let cache = makeCache()
        cache.setImage(.tiny(), forKey: "a")
        cache.setImage(nil, forKey: "a")
        #expect(cache.count == 0)
    }

    @Test func `The handler is called once for every image, with the reason of its removal`() {
        let cache = makeCache(cost: 30, count: 10)
        let gone = Lock<[String: [MemoryCache.EvictionReason]]>([:])
        cache.evictionHandler = { eviction in
            gone.withLock { $0[eviction.key, default: []].append(eviction.reason) }
            // No lock is held: the cache can be used.
            _ = cache.count
        }
        let image = Image.tiny()
        cache.setImage(image, forKey: "replaced", cost: 10)
        cache.setImage(image, forKey: "replaced", cost: 5)
        #expect(gone.withLock { $0.isEmpty }, "the same image again is not an eviction")
        cache.setImage(.tiny(), forKey: "replaced", cost: 10)
        cache.setImage(.tiny(), forKey: "cost", cost: 10)
        _ = cache.image(forKey: "replaced")
        cache.setImage(.tiny(), forKey: "x", cost: 20)
        cache.removeImage(forKey: "x")
        cache.removeImage(forKey: "x")
        cache.maxMemoryCount = 1
        cache.setImage(.tiny(), forKey: "y", cost: 1)
        cache.didReceiveMemoryWarning()
        #expect(
            gone.withLock { $0 } == [
                "replaced": [.replaced, .count], "cost": [.cost], "x": [.removed], "y": [.pressure],
            ]
        )
        #expect(cache.evictionHandler != nil)
        cache.evictionHandler = nil
        #expect(cache.evictionHandler == nil)
    }

    @Test func `Images are released while no lock is held`() {
        let cache = makeCache(count: 2)
        let released = Lock(0)
        for number in 0..<10 {
            let image = Image.tiny {
                // Would never return if a lock were held.
                _ = cache.image(forKey: "0")
                _ = cache.count
                released.withLock { $0 += 1 }
            }
            cache.setImage(image, forKey: "\(number % 5)", cost: 1)
        }
        cache.removeAll()
        #expect(released.withLock { $0 } == 10)
    }

    @Test func `A released cache releases its images`() {
        let released = Lock(0)
        do {
            let cache = makeCache()
            for number in 0..<200 {
                cache.setImage(.tiny { released.withLock { $0 += 1 } }, forKey: "\(number)")
            }
            #expect(cache.count == 200)
        }
        #expect(released.withLock { $0 } == 200)
    }

    @Test func `An evicted image stays valid for its owners`() {
        let cache = makeCache(count: 1)
        let image = Image.tiny()
        cache.setImage(image, forKey: "a")
        cache.setImage(.tiny(), forKey: "b")
        #expect(cache.image(forKey: "a") == nil)
        #expect(image.pixelWidth == 1)
    }
}
