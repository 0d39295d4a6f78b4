import CTestSupport
import FoundationEssentials
import Glibc
import TestSupport
import WebImage

/// A cache in a process that has come to one of its bounds: what needs more is a miss or not stored, and all is well once there is
/// room again.
struct LimitedRun {
    private let cache: DiskCache
    private let key = HammerPicture.key(1)
    private let bytes = HammerPicture.bytes(1, version: 1)

    init(directory: String) {
        cache = DiskCache(path: directory)
        cache.store(bytes, forKey: key)
    }

    /// What is wrong.
    func run(_ kind: String) -> [String] {
        var wrong: [String] = []
        let open = ctest_open_descriptors(nil)
        switch kind {
        case "descriptors": wrong += descriptors()
        case "memory": wrong += memory()
        case "file-size": wrong += fileSize()
        default: wrong.append("no such bound")
        }
        ctest_limit(.max, .max, .max)
        if ctest_open_descriptors(nil) != open { wrong.append("files were left open") }
        if cache.data(forKey: key) != bytes { wrong.append("what was stored is gone") }
        if !cache.store(bytes, forKey: "after") { wrong.append("nothing can be stored afterwards") }
        if !cache.verify().isEmpty { wrong.append("an entry is damaged") }
        return wrong
    }

    private func descriptors() -> [String] {
        // The three streams are all that it may have.
        ctest_limit(3, -1, -1)
        var wrong: [String] = []
        for number in 0..<100 {
            if cache.store(bytes, forKey: "\(number)") { wrong.append("\(number) was stored") }
            if cache.data(forKey: key) != nil { wrong.append("there was a hit") }
        }
        if cache.removeExpiredData().isComplete { wrong.append("a pass did not say that it could not be made") }
        if cache.usage().count != 0 || !cache.entries().isEmpty { wrong.append("something was listed") }
        if cache.lastError == nil { wrong.append("nobody was told") }
        return wrong
    }

    private func memory() -> [String] {
        let size = 96 << 20
        let isStored = cache.store(Data(repeating: 5, count: size), forKey: "big")
        ctest_limit(-1, Self.addressSpace() + 32 << 20, -1)
        var wrong: [String] = isStored ? [] : ["the big entry was not stored"]
        for _ in 0..<3 where cache.data(forKey: "big") != nil { wrong.append("there was memory") }
        if cache.data(forKey: key) != bytes { wrong.append("a small entry is no hit") }
        ctest_limit(-1, .max, -1)
        if cache.data(forKey: "big")?.count != size { wrong.append("the big entry was lost") }
        return wrong
    }

    private static func addressSpace() -> Int {
        let text = (try? Data(contentsOf: URL(filePath: "/proc/self/statm"))).map {
            String(decoding: $0, as: UTF8.self)
        }
        return (text?.split(separator: " ").first.flatMap { Int($0) } ?? 0) * Int(getpagesize())
    }

    private func fileSize() -> [String] {
        ctest_limit(-1, -1, 100_000)
        var wrong: [String] = []
        if cache.store(Data(repeating: 5, count: 200_000), forKey: "big") { wrong.append("too much was stored") }
        if cache.data(forKey: "big") != nil { wrong.append("too much is there") }
        if !cache.store(bytes, forKey: "small") { wrong.append("a small entry was not stored") }
        return wrong
    }
}
