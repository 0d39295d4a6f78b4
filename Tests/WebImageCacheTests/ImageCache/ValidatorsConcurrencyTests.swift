import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageCache

/// Cached validators while several threads change and read entries.
@Suite(.tags(.threadSanitizer), .timeLimit(.minutes(10))) struct ValidatorsConcurrencyTests {
    @Test func `In the end the cached validators match the disk`() async {
        let directory = TemporaryDirectory()
        let cache = ImageCache(path: directory.path("cache"), config: ImageCacheConfig(), coder: nil, clock: .system)
        let latches = (0..<3).map { thread in
            let latch = Latch()
            startThread {
                var random = SeededGenerator(seed: UInt64(thread))
                for step in 0..<1_500 {
                    let key = "k\(Int.random(in: 0..<6, using: &random))"
                    let number = step * 3 + thread
                    switch Int.random(in: 0..<12, using: &random) {
                    case 0, 1:
                        var request = ImageStoreRequest(key: key, data: Data("bytes".utf8))
                        request.validators = StoredRecords.validators(number)
                        cache.store(request, completion: nil)
                    case 2: cache.removeImage(forKey: key, from: .disk, completion: nil)
                    case 3 where step % 100 == 0: cache.clear(.disk, completion: nil)
                    case 4: _ = cache.diskEntry(forKey: key)
                    case 5: cache.queryValidators(forKey: key, priority: .low) { _ in }
                    case 6: cache.queryDisk(forKey: key, priority: .high) { _ in }
                    case 7: _ = cache.knownValidators(forKey: key)
                    default: cache.amend(validators: StoredRecords.validators(number), forKey: key)
                    }
                }
                latch.open()
            }
            return latch
        }
        for latch in latches { #expect(await latch.opens(seconds: 100)) }
        await cache.flush()
        for number in 0..<6 {
            let known = cache.knownValidators(forKey: "k\(number)")
            let entry = cache.diskCache.entry(forKey: "k\(number)")
            // Validators may be unknown, but never wrong.
            if let known { #expect(entry != nil && known.validators == entry?.validators) }
            let found = cache.readValidators(forKey: "k\(number)")
            #expect(found?.validators == entry?.validators && (found == nil) == (entry == nil))
            #expect(cache.knownValidators(forKey: "k\(number)") == found)
        }
    }
}
