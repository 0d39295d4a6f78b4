import CacheTestSupport
import Foundation
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageCache

/// The format of a remote cache's values is that of cache files.
@Suite struct EntryFileTests {
    private let key = "https://example.com/a.jpg"

    private var entries: [CachedImageData] {
        let body = Data((0..<5000).map { UInt8(truncatingIfNeeded: $0 &* 13) })
        let validators = CacheValidators(etag: "\"x\"", lastModified: "Sun, 06 Nov 1994 08:49:37 GMT")
        return [
            CachedImageData(data: body),
            CachedImageData(data: Data(), extendedData: Data("more".utf8)),
            CachedImageData(
                data: body,
                extendedData: Data("more".utf8),
                validators: validators,
                thumbHash: ThumbHash(bytes: Data(repeating: 7, count: 25))
            ),
        ]
    }

    @Test func `A value has the bytes of the file that a disk cache writes`() throws {
        let directory = TemporaryDirectory()
        let clock = ManualClock()
        let disk = DiskCache(path: directory.path("cache"), config: ImageCacheConfig(), clock: clock.source)
        for entry in entries {
            #expect(disk.store(entry, forKey: key))
            let file = try Data(contentsOf: URL(filePath: disk.cachePath(forKey: key)))
            let value = try #require(EntryFile.encode(entry, forKey: key, created: clock.wallTime))
            #expect(value == file)
            #expect(EntryFile.decode(file, forKey: key) == entry)
        }
    }

    @Test func `A value is only an entry of its key`() throws {
        let value = try #require(EntryFile.encode(entries[2], forKey: key, created: 0))
        #expect(EntryFile.decode(value, forKey: key + "x") == nil)
        #expect(EntryFile.decode(value, forKey: "") == nil)
    }

    @Test func `Of 10000 damaged values none is decoded to other bytes`() throws {
        var random = SeededGenerator(seed: 33)
        var values: [(Data, CachedImageData)] = []
        for entry in entries { values.append((try #require(EntryFile.encode(entry, forKey: key, created: 1)), entry)) }
        var decoded = 0
        for round in 0..<TestEffort.rounds(10_000) {
            let (value, entry) = values[round % values.count]
            var damaged = value
            switch Int.random(in: 0..<5, using: &random) {
            case 0:
                damaged[Int.random(in: 0..<damaged.count, using: &random)] ^= UInt8.random(in: 1...255, using: &random)
            case 1: damaged = damaged.prefix(Int.random(in: 0..<damaged.count, using: &random))
            case 2: damaged.insert(0, at: Int.random(in: 0...damaged.count, using: &random))
            case 3: damaged.remove(at: Int.random(in: 0..<damaged.count, using: &random))
            default:
                // The lengths are in the last bytes.
                let end = damaged.count
                for _ in 0..<3 {
                    damaged[end - Int.random(in: 9...56, using: &random)] = .random(in: 0...255, using: &random)
                }
            }
            guard damaged != value, let result = EntryFile.decode(Data(damaged), forKey: key) else { continue }
            // A damaged slot, which the checksum of the image does not cover, has no validators any more.
            decoded += 1
            #expect(result.data == entry.data && result.extendedData == entry.extendedData)
            #expect(result.validators == entry.validators || result.validators == nil)
        }
        #expect(decoded < TestEffort.rounds(10_000) / 10)
    }
}
