import CacheTestSupport
import FoundationEssentials
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageCache
@testable import WebImageLoading
@testable import WebImageModel

/// Validators that a cache knows without reading the disk, and those that a read finds.
@Suite(.tags(.threadSanitizer), .timeLimit(.minutes(10))) struct ImageCacheValidatorsTests {
    private let directory = TemporaryDirectory()
    private let clock = ManualClock()
    private let key = "http://h/a.png"
    private let data = FakeCoder.data()

    private func make(
        _ name: String = "cache",
        calls: FileCalls = .system,
        _ change: (inout ImageCacheConfig) -> Void = { _ in }
    ) -> ImageCache {
        var config = ImageCacheConfig()
        change(&config)
        return ImageCache(path: directory.path(name), config: config, clock: clock.source, calls: calls)
    }

    private func request(_ number: Int) -> ImageStoreRequest {
        var request = ImageStoreRequest(key: key, data: data)
        request.validators = StoredRecords.validators(number)
        return request
    }

    private func query(_ cache: any ImageCaching, _ key: String? = nil) async -> CachedValidators? {
        await withCheckedContinuation { continuation in
            cache.queryValidators(forKey: key ?? self.key, priority: .normal) { continuation.resume(returning: $0) }
        }
    }

    private func number(_ known: CachedValidators?) -> Int? { StoredRecords.number(of: known?.validators) }

    @Test func `A store, an amendment and a removal are known at once, before anything is written`() async {
        let disk = FakeDisk()
        let cache = disk.cache()
        let gate = Gate()
        disk.holdStores(gate)
        #expect(cache.knownValidators(forKey: key) == nil)
        cache.store(request(1), completion: nil)
        #expect(number(cache.knownValidators(forKey: key)) == 1)
        cache.amend(validators: StoredRecords.validators(2), forKey: key)
        #expect(number(cache.knownValidators(forKey: key)) == 2)
        #expect(number(await query(cache)) == 2)
        cache.amend(validators: nil, forKey: key)
        #expect(cache.knownValidators(forKey: key) == CachedValidators(validators: nil))
        #expect(await query(cache) == CachedValidators(validators: nil))
        cache.removeImage(forKey: key, from: .disk, completion: nil)
        #expect(cache.knownValidators(forKey: key) == nil)
        #expect(await query(cache) == nil)
        gate.open()
        await cache.flush()
        #expect(cache.knownValidators(forKey: key) == nil && disk.entry(forKey: key) == nil)
        #expect(cache.knownValidators(forKey: "") == nil)
        #expect(await query(cache, "") == nil)
    }

    @Test func `Synchronous stores and removals are known, too, and changes only of memory have no effect`() async {
        let cache = make()
        cache.storeDataToDisk(data, forKey: key)
        #expect(cache.knownValidators(forKey: key) == CachedValidators(validators: nil))
        cache.removeImageFromMemory(forKey: key)
        cache.storeToMemory(FakeCoder.image(), forKey: key)
        await cache.removeImage(forKey: key, from: .memory)
        #expect(cache.knownValidators(forKey: key) != nil)
        cache.removeImageFromDisk(forKey: key)
        #expect(cache.knownValidators(forKey: key) == nil)
        cache.store(request(1), completion: nil)
        await cache.clear(.memory)
        #expect(cache.knownValidators(forKey: key) != nil)
        cache.clear(.disk, completion: nil)
        #expect(cache.knownValidators(forKey: key) == nil)
        await cache.flush()
    }

    @Test func `A read records what it found, and that it found nothing`() async {
        await withCheckedContinuation { continuation in make().store(request(3)) { continuation.resume() } }
        let hash = data.contentHash
        let expected = CachedValidators(validators: StoredRecords.validators(3), contentHash: hash)
        let caches = (0..<4).map { _ in make() }
        for cache in caches { #expect(cache.knownValidators(forKey: key) == nil) }
        #expect(caches[0].diskEntry(forKey: key)?.data == data)
        #expect(await caches[1].diskData(forKey: key) == data)
        #expect(await query(caches[2]) == expected)
        #expect(caches[3].imageFromDisk(forKey: key) == nil, "not an image")
        for cache in caches { #expect(cache.knownValidators(forKey: key) == expected) }
        caches[0].removeImageFromDisk(forKey: key)
        #expect(caches[1].diskEntry(forKey: key) == nil)
        #expect(await query(caches[2]) == nil)
        for cache in caches[..<3] { #expect(cache.knownValidators(forKey: key) == nil) }
    }

    @Test func `A query reads only the end of the file and sets no time`() async throws {
        await withCheckedContinuation { continuation in make().store(request(3)) { continuation.resume() } }
        let reads = Lock(0)
        var calls = FileCalls.system
        calls.read = { file, buffer, count in
            reads.withLock { $0 += 1 }
            return FileCalls.system.read(file, buffer, count)
        }
        let cache = make(calls: calls)
        let before = try #require(cache.diskCache.entries().first)
        clock.advance(100)
        #expect(number(await query(cache)) == 3)
        #expect(reads.withLock { $0 } == 0 && cache.diskCache.entries().first == before)
        #expect(before.validators == StoredRecords.validators(3))
    }

    @Test func `The hash of the received data is known if the store gave it`() async {
        let cache = make()
        var plain = request(1)
        cache.store(plain, completion: nil)
        #expect(cache.knownValidators(forKey: key)?.contentHash == nil, "the bytes have not been read")
        plain.dataHash = 5
        cache.store(plain, completion: nil)
        #expect(cache.knownValidators(forKey: key)?.contentHash == 5)
        plain.image = FakeCoder.image().with(sourceHash: 6, extendedData: nil)
        cache.store(plain, completion: nil)
        #expect(cache.knownValidators(forKey: key)?.contentHash == 6, "the bytes were made of others")
        #expect(StoredRecords.validators(1).with(receivedHash: 6) == cache.knownValidators(forKey: key)?.validators)
        await cache.flush()
        #expect(cache.diskEntry(forKey: key)?.validators?.receivedHash == 6)
        #expect(cache.knownValidators(forKey: key)?.contentHash == 6)
    }

    @Test func `Amended bytes of an entry have no hash any more, and the hash is ignored in comparisons`() async {
        let cache = make()
        cache.storeDataToDisk(data, forKey: key)
        let entry = cache.diskEntry(forKey: key)
        #expect(entry?.dataHash.value == data.contentHash && entry == CachedImageData(data: data))
        #expect(entry.hashValue == CachedImageData?.some(CachedImageData(data: data)).hashValue)
        var changed = entry
        changed?.data.append(1)
        #expect(changed?.dataHash.value == nil)
        changed = entry
        changed?.data = Data([1])
        #expect(changed?.dataHash.value == nil)
    }

    @Test func `A read that a store has overtaken records nothing`() async {
        let disk = FakeDisk()
        let cache = disk.cache()
        _ = disk.store(CachedImageData(data: data, validators: StoredRecords.validators(1)), forKey: key)
        let gate = Gate()
        disk.holdReads(gate)
        let done = Latch()
        cache.queryDisk(forKey: key, priority: .normal) { _ in done.open() }
        await wait(while: disk.readCount != 1)
        disk.holdReads(nil)
        cache.store(request(2), completion: nil)
        gate.open()
        #expect(await done.opens())
        #expect(number(cache.knownValidators(forKey: key)) == 2)
        await cache.flush()
    }

    @Test func `An amendment without an entry has no effect`() async {
        let cache = make()
        cache.amend(validators: StoredRecords.validators(1), forKey: key)
        #expect(cache.knownValidators(forKey: key) == nil)
        #expect(await query(cache) == nil)
        await cache.flush()
        #expect(await query(cache) == nil)
    }

    @Test func `Where entries are not replaced, the entry's own validators are known`() async {
        let cache = make { $0.writesWithoutOverwriting = true }
        cache.store(request(1), completion: nil)
        #expect(cache.knownValidators(forKey: key) == nil, "there may be one that stays")
        #expect(number(await query(cache)) == 1)
        await cache.flush()
        cache.store(request(2), completion: nil)
        #expect(number(await query(cache)) == 1)
        await cache.flush()
        #expect(number(cache.knownValidators(forKey: key)) == 1)
    }

    @Test func `Entries removed by a pass are not known any more, and the others are`() async {
        let cache = make { $0.maxDiskAge = 100 }
        cache.store(request(1), completion: nil)
        await cache.flush()
        clock.advance(80)
        cache.storeDataToDisk(data, forKey: "young")
        clock.advance(40)
        #expect(await cache.removeExpiredData().expiredCount == 1)
        #expect(cache.knownValidators(forKey: key) == nil && cache.knownValidators(forKey: "young") != nil)
        cache.didReceiveMemoryWarning()
        #expect(cache.knownValidators(forKey: "young") == nil)
        #expect(await query(cache, "young") != nil)
    }

    @Test func `Entries of read-only directories are known, but not their later changes`() async {
        await withCheckedContinuation { continuation in make("old").store(request(4)) { continuation.resume() } }
        let cache = make { $0.readOnlyDirectories = [directory.path("old")] }
        #expect(number(await query(cache)) == 4)
        let file = readBytes(make("old").diskCache.cachePath(forKey: key))
        cache.amend(validators: StoredRecords.validators(5), forKey: key)
        #expect(number(cache.knownValidators(forKey: key)) == 5, "this process knows better")
        await cache.flush()
        #expect(readBytes(make("old").diskCache.cachePath(forKey: key)) == file, "nothing is written there")
        cache.readOnlyDirectories = []
        #expect(cache.knownValidators(forKey: key) == nil)
        #expect(await query(cache) == nil)
        let path = make("old").diskCache.cachePath(forKey: key)
        cache.additionalCachePath = { _ in path }
        #expect(number(await query(cache)) == 4)
        cache.additionalCachePath = nil
        #expect(cache.knownValidators(forKey: key) == nil)
    }

    @Test func `A cancelled query answers nil once`() async {
        let disk = FakeDisk()
        _ = disk.store(CachedImageData(data: data), forKey: key)
        let gate = Gate()
        disk.holdReads(gate)
        let cache = disk.cache { $0.maxConcurrentDiskOperations = 1 }
        let held = Answers<CachedImageData?>()
        cache.queryDisk(forKey: "other", priority: .normal) { held.note($0) }
        let answers = Answers<CachedValidators?>()
        let query = cache.queryValidators(forKey: key, priority: .low) { answers.note($0) }
        (query as? any ImageLoaderOperation)?.setPriority(.high)
        query.cancel()
        #expect(query.isCancelled && answers.values == [nil])
        gate.open()
        await wait(while: held.count != 1)
        #expect(number(await self.query(cache)) == nil && answers.count == 1)
    }

    @Test func `A custom cache knows no validators, and is read as a whole`() async {
        let cache = FakeCache()
        let entry = CachedImageData(data: data, validators: StoredRecords.validators(6))
        cache.edit { $0.disk[key] = entry }
        #expect(cache.knownValidators(forKey: key) == nil)
        #expect(number(await query(cache)) == 6)
        #expect(await query(cache, "none") == nil)
        #expect(cache.edit { $0.diskReads } == [key, "none"])
    }

    @Test func `Several caches are asked as for an entry, the highest first`() async {
        let (low, high) = (make("low"), make("high"))
        let manager = ImageCachesManager(caches: [low, high])
        #expect(manager.knownValidators(forKey: key) == nil)
        #expect(await query(manager) == nil)
        low.store(request(1), completion: nil)
        #expect(number(manager.knownValidators(forKey: key)) == 1)
        #expect(number(await query(manager)) == 1)
        high.store(request(2), completion: nil)
        #expect(number(manager.knownValidators(forKey: key)) == 2)
        #expect(number(await query(manager)) == 2)
        manager.queryPolicy = .lowestOnly
        #expect(number(manager.knownValidators(forKey: key)) == 1)
        #expect(number(await query(manager)) == 1)
        #expect(manager.knownValidators(forKey: "") == nil)
        #expect(await query(manager, "") == nil)
        manager.caches = []
        #expect(manager.knownValidators(forKey: key) == nil)
        #expect(await query(manager) == nil)
        for cache in [low, high] { await cache.flush() }
    }

    @Test(arguments: [false, true]) func `Validators of other bytes are not set on an entry that waits to be written`(
        isEncoded: Bool
    ) async {
        let disk = FakeDisk()
        let cache = disk.cache()
        let gate = Gate()
        disk.holdStores(gate)
        cache.store(ImageStoreRequest(key: "other", data: data), completion: nil)
        var request = request(1)
        if isEncoded { (request.data, request.image) = (nil, FakeCoder.image().with(sourceHash: 6)) }
        cache.store(request, completion: nil)
        var about = StoredRecords.validators(2)
        about?.subject.value = 7
        cache.amend(validators: about, forKey: key)
        #expect(await query(cache)?.validators?.etag == "\"1\"")
        gate.open()
        await cache.flush()
        #expect(disk.entry(forKey: key)?.validators?.etag == "\"1\"")
        // Another cache's disk level is read, too.
        cache.amend(validators: about, forKey: key)
        await cache.flush()
        #expect(disk.entry(forKey: key)?.validators?.etag == "\"1\"")
    }
}
