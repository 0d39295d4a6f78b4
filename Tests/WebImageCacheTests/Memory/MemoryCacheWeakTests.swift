import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageCache

@Suite(.tags(.threadSanitizer)) struct MemoryCacheWeakTests {
    private func makeCache(cost: Int = 0, count: Int = 0, weak: Bool = true) -> MemoryCache {
        MemoryCache(
            maxMemoryCost: cost,
            maxMemoryCount: count,
            usesWeakCache: weak,
            respondsToMemoryPressure: false
        )
    }

    @Test func `A retained image is found after a memory warning and put back with its cost`() {
        let cache = makeCache()
        let image = Image.tiny()
        cache.setImage(image, forKey: "a", cost: 77)
        cache.setImage(.tiny(), forKey: "b")
        cache.didReceiveMemoryWarning()
        #expect(cache.count == 0)
        #expect(cache.image(forKey: "a") === image)
        #expect(cache.totalCost == 77)
        #expect(cache.image(forKey: MemoryCacheKey("b")) == nil)
    }

    @Test func `Putting back respects the limits`() {
        let cache = makeCache(cost: 100)
        let images = (0..<20).map { _ in Image.tiny() }
        for (number, image) in images.enumerated() { cache.setImage(image, forKey: "\(number)", cost: 10) }
        for (number, image) in images.enumerated() {
            #expect(cache.image(forKey: "\(number)") === image)
            #expect(cache.totalCost <= 100)
        }
    }

    @Test func `An image too big for the cache can be found while it is displayed`() {
        let cache = makeCache(cost: 100)
        let image = Image.tiny()
        cache.setImage(image, forKey: "a", cost: 500)
        #expect(cache.count == 0)
        #expect(cache.image(forKey: "a") === image)
        #expect(cache.totalCost == 0)
    }

    @Test func `Removing removes from the weak level, too`() {
        let cache = makeCache()
        let image = Image.tiny()
        cache.setImage(image, forKey: "a")
        cache.removeImage(forKey: "a")
        #expect(cache.image(forKey: "a") == nil)
        cache.setImage(image, forKey: "a")
        cache.removeAll()
        #expect(cache.image(forKey: "a") == nil)
        #expect(image.pixelWidth == 1)
    }

    @Test func `The switch is live, and images stored while it was off are not found`() {
        let cache = makeCache(weak: false)
        let (early, late) = (Image.tiny(), Image.tiny())
        cache.setImage(early, forKey: "early")
        cache.usesWeakCache = true
        #expect(cache.usesWeakCache)
        cache.setImage(late, forKey: "late")
        cache.didReceiveMemoryWarning()
        #expect(cache.image(forKey: "early") == nil)
        cache.usesWeakCache = false
        #expect(cache.image(forKey: "late") == nil)
        cache.usesWeakCache = true
        #expect(cache.image(forKey: "late") === late)
        #expect(early.pixelWidth == 1)
    }

    @Test func `A value stored while it was off replaces the remembered one`() {
        let cache = makeCache()
        let (old, new) = (Image.tiny(), Image.tiny())
        cache.setImage(old, forKey: "a")
        cache.usesWeakCache = false
        cache.setImage(new, forKey: "a")
        cache.usesWeakCache = true
        cache.didReceiveMemoryWarning()
        #expect(cache.image(forKey: "a") == nil, "the old image must not come back")
        #expect(old !== new)
    }

    @Test func `Boxes of released images are swept as others are added`() {
        var table = WeakTable<Image>()
        var seen: [Image] = []
        let alive = Image.tiny()
        table.set(alive, cost: 1, for: "alive", seen: &seen)
        for number in 0..<1000 {
            table.set(.tiny(), cost: 1, for: MemoryCacheKey("\(number)"), seen: &seen)
            seen.removeAll()
            #expect(table.count <= 8)
        }
        #expect(table.value(for: "alive")?.value === alive)
        table.remove("alive")
        #expect(table.value(for: "alive") == nil)
        table.removeAll()
        #expect(table.count == 0)
    }

    @Test func `All living images are found, however many are added and removed`() {
        var table = WeakTable<Image>()
        var held: [Int: Image] = [:]
        var random = SeededGenerator(seed: 4)
        var seen: [Image] = []
        for number in 0..<3000 {
            let image = Image.tiny()
            if random.below(3) == 0 { held[number] = image }
            table.set(image, cost: number, for: MemoryCacheKey("\(number)"), seen: &seen)
            seen.removeAll()
            if random.below(5) == 0 {
                let gone = random.below(number + 1)
                held[gone] = nil
                table.remove(MemoryCacheKey("\(gone)"))
            }
        }
        for (number, image) in held {
            let found = table.value(for: MemoryCacheKey("\(number)"))
            #expect(found?.value === image && found?.cost == number)
        }
        #expect(table.count <= held.count * 2 + 8)
    }
}
