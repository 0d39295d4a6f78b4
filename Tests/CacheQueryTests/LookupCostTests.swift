import CacheTestSupport
import FoundationEssentials
import TestSupport
import Testing
import WebImage

/// The memory that a cache lookup allocates, in a program that counts.
@Suite struct LookupCostTests {
    private let directory = TemporaryDirectory()

    /// A key of a kilobyte, so that a list of keys would show.
    private func key(_ number: Int) -> String { "http://h/\(number)?" + String(repeating: "x", count: 1000) }

    @Test func `Enumerating many entries takes as much memory as enumerating a few`() async throws {
        let cache = DiskCache.make(directory)
        func cost() async throws -> (count: Int, bytes: Int) {
            let run = try await ProgramRun.run(ProgramRun.product("heap-program"), ["hit-cost", "list", cache.path])
            #expect(run.status == 0, "\(run.errors)")
            let numbers = (run.lines.first ?? "").split(separator: " ").compactMap { Int($0) }
            try #require(numbers.count == 2, "\(run.output)")
            return (numbers[0], numbers[1])
        }
        for number in 0..<100 { cache.store(Data([1]), forKey: key(number)) }
        let few = try await cost()
        for number in 100..<4_000 { cache.store(Data([1]), forKey: key(number)) }
        let many = try await cost()
        #expect(few.count == 100 && many.count == 4_000)
        // The keys would take four megabytes.
        #expect(few.bytes > 1_000 && many.bytes < 128 << 10, "\(few.bytes) and \(many.bytes) bytes")
        #expect(many.bytes <= few.bytes + 16 << 10, "\(few.bytes) and \(many.bytes) bytes")
    }

    @Test func `A lookup allocates no memory, whether it hits or misses`() async throws {
        let run = try await ProgramRun.run(ProgramRun.product("heap-program"), ["hit-cost", directory.path])
        #expect(run.status == 0, "\(run.errors)")
        for name in ["known", "unknown"] {
            let line = try #require(run.lines.first { $0.hasPrefix(name + " ") })
            // Of a thousand; other threads may allocate meanwhile.
            let count = try #require(Int(line.split(separator: " ")[1]))
            #expect(count < 20, "\(line)")
        }
    }
}
