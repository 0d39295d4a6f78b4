import CacheTestSupport
import FoundationEssentials
import Glibc
import ModelTestSupport
import TestSupport
import Testing
import WebImageCache

/// Amendments concurrent with reads and other amendments.
@Suite(.tags(.threadSanitizer), .timeLimit(.minutes(10))) struct SlotConcurrencyTests {
    let directory = TemporaryDirectory.inMemory()
    let key = "http://h/a.jpg"
    let bytes = (0..<5_000).map { UInt8(truncatingIfNeeded: $0 &* 13) }

    private func run(_ bodies: [@Sendable () -> Void]) async {
        await withTaskGroup(of: Void.self) { group in
            for body in bodies { group.addTask { await onThread(body) } }
        }
    }

    @Test(arguments: [false, true]) func `A reader sees the old or the new state, never a mixture or nothing`(
        isMapped: Bool
    ) async {
        let cache = DiskCache.make(directory) { $0.mapsDiskData = isMapped }
        let (key, bytes) = (key, bytes)
        let count = TestEffort.rounds(1_500)
        cache.store(StoredRecords.entry(bytes, 0, padding: 3_000), forKey: key)
        let (written, torn) = (Lock(0), Lock(0))
        let isOver = Lock(false)
        let reader: @Sendable () -> Void = {
            while !isOver.withLock({ $0 }) {
                let before = written.withLock { $0 }
                let entry = cache.entry(forKey: key)
                let numbers = [entry?.validators, cache.validators(forKey: key)].map { StoredRecords.number(of: $0) }
                let after = written.withLock { $0 }
                let isRight = numbers.allSatisfy { $0.map { $0 >= before && $0 <= after + 1 } ?? false }
                if entry?.data != Data(bytes) || !isRight { torn.withLock { $0 += 1 } }
            }
        }
        let writer: @Sendable () -> Void = {
            for number in 1...count {
                let validators = StoredRecords.validators(number, padding: 3_000 - number % 100)
                cache.amend(extendedData: nil, validators: validators, forKey: key)
                written.withLock { $0 = number }
            }
            isOver.withLock { $0 = true }
        }
        await run([writer, reader, reader])
        #expect(torn.withLock { $0 } == 0)
        #expect(cache.statistics.amendCount == count && cache.statistics.storeCount == 1)
        #expect(StoredRecords.number(of: cache.validators(forKey: key)) == count)
    }

    @Test func `Two processes that amend, store and remove leave whole entries`() async {
        let caches = [DiskCache.make(directory), DiskCache.make(directory)]
        let (key, bytes) = (key, bytes)
        caches[0].store(StoredRecords.entry(bytes, 0), forKey: key)
        let torn = Lock(0)
        let bodies = caches.enumerated().map { index, cache -> @Sendable () -> Void in
            {
                for round in 0..<600 {
                    let number = round * 2 + index
                    switch round % 20 {
                    case 0: cache.store(StoredRecords.entry(bytes, number), forKey: key)
                    case 7: cache.setExtendedData(Data([UInt8(round % 256)]), forKey: key)
                    case 13: cache.amend(extendedData: nil, validators: .some(nil), forKey: key)
                    case 19 where round % 40 == 19: cache.removeData(forKey: key)
                    default:
                        let validators = StoredRecords.validators(number, padding: round % 3 * 200)
                        cache.amend(extendedData: nil, validators: validators, forKey: key)
                    }
                    guard let entry = cache.entry(forKey: key) else { continue }
                    let isWhole = entry.validators == nil || StoredRecords.number(of: entry.validators) != nil
                    if entry.data != Data(bytes) || !isWhole { torn.withLock { $0 += 1 } }
                }
            }
        }
        await run(bodies)
        #expect(torn.withLock { $0 } == 0)
        #expect(caches.allSatisfy { $0.statistics.damagedCount == 0 } && caches[0].verify() == [])
        caches[0].store(StoredRecords.entry(bytes, 1), forKey: key)
        caches[1].amend(extendedData: nil, validators: StoredRecords.validators(2), forKey: key)
        #expect(StoredRecords.number(of: caches[0].validators(forKey: key)) == 2)
    }
}
