import TestSupport
import Testing

@testable import WebImageCache

extension EntryTable {
    mutating func append(_ entry: ScannedEntry) {
        var name = entry.name
        name.withUTF8 { append($0, time: entry.time, mark: entry.changeMark, size: entry.allocatedSize) }
    }

    /// Returns the oldest entries, the oldest first, as many as it takes to reach `bytes`.
    fileprivate func oldest(until bytes: Int) -> [ScannedEntry] {
        var copy = self
        copy.keepOldest(until: bytes)
        var entries: [ScannedEntry] = []
        while let entry = copy.popOldest() { entries.append(entry) }
        return entries
    }
}

@Suite struct EntryTableTests {
    private func random(_ seed: UInt64, count: Int, times: Int64) -> [ScannedEntry] {
        var random = SeededGenerator(seed: seed)
        return (0..<count).map { number in
            let time = Int64.random(in: -times...times, using: &random)
            return ScannedEntry(
                name: "\(number)" + String(repeating: "x", count: Int.random(in: 0...40, using: &random)),
                allocatedSize: Int.random(in: 0...5, using: &random) * 4096,
                time: time,
                changeMark: time - 1
            )
        }
    }

    private func table(_ entries: [ScannedEntry]) -> EntryTable {
        var table = EntryTable()
        for entry in entries { table.append(entry) }
        return table
    }

    /// The oldest first; of the same time, in order of insertion.
    private func sorted(_ entries: [ScannedEntry]) -> [ScannedEntry] {
        entries.enumerated()
            .sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }
            .map(\.element)
    }

    @Test(arguments: 0..<60) func `A selection takes the same entries as sorting`(seed: UInt64) {
        // From all times different to hardly any.
        let entries = random(seed, count: Int(seed) * 13, times: [0, 2, 1000, .max / 2][Int(seed % 4)])
        let total = entries.reduce(0) { $0 + $1.allocatedSize }
        for wanted in [-1, 0, 1, 4096, total / 16, total / 2, total - 1, total, total + 1, .max] {
            var rest = wanted
            let expected = sorted(entries).prefix { entry in
                defer { rest -= entry.allocatedSize }
                return rest > 0
            }
            let found = table(entries).oldest(until: wanted)
            #expect(Set(found) == Set(expected))
            #expect(found.map(\.time) == expected.map(\.time))
        }
    }

    @Test(arguments: 0..<20) func `Entries are ordered by age, and by insertion for equal times`(seed: UInt64) {
        let entries = random(seed, count: 300, times: [0, 3, 1 << 60][Int(seed % 3)])
        var table = table(entries)
        #expect(table.count == 300)
        #expect(table.oldestTime() == entries.map(\.time).min())
        var found: [ScannedEntry] = []
        while let entry = table.popOldest() { found.append(entry) }
        #expect(found == sorted(entries))
        #expect(table.isEmpty)
        #expect(table.totalSize == 0)
        #expect(table.oldestTime() == nil)
        #expect(table.popOldest() == nil)
    }

    @Test(arguments: 0..<20) func `Insertions and removals in any order match a sorted list`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var table = EntryTable()
        var model: [ScannedEntry] = []
        for (step, entry) in self.random(seed, count: 500, times: 1 << 50).enumerated() {
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<4:
                let oldest = model.min { $0.time < $1.time }
                #expect(table.popOldest() == oldest)
                model.removeAll { $0 == oldest }
            case 4 where step % 20 == 0:
                let wanted = Int.random(in: 0...(table.totalSize + 1), using: &random)
                model = self.table(model).oldest(until: wanted)
                table.keepOldest(until: wanted)
            case 5:
                var other = EntryTable()
                other.append(entry)
                table.append(contentsOf: other)
                model.append(entry)
            default:
                table.append(entry)
                model.append(entry)
            }
            #expect(table.count == model.count)
            #expect(table.totalSize == model.reduce(0) { $0 + $1.allocatedSize })
        }
        var names: Set<String> = []
        table.forEach { name, _ in names.insert(String(decoding: name, as: UTF8.self)) }
        #expect(names == Set(model.map(\.name)))
    }

    @Test func `Peeking at the oldest removes nothing`() {
        var table = table(random(1, count: 50, times: 10))
        let before = table.totalSize
        let time = table.oldestTime()
        #expect(table.oldestTime() == time)
        #expect(table.count == 50)
        #expect(table.totalSize == before)
        #expect(table.popOldest()?.time == time)
    }

    @Test func `Fifty thousand entries of one time, or in order, are as quick as any`() {
        for step: Int64 in [0, 1, -1] {
            var table = EntryTable()
            for number in 0..<50_000 {
                table.append(ScannedEntry(name: "\(number)", allocatedSize: 1, time: Int64(number) * step))
            }
            // Quadratic work would take minutes.
            table.keepOldest(until: 10_000)
            #expect(table.count == 10_000)
            var last = Int64.min
            while let entry = table.popOldest() {
                #expect(entry.time >= last)
                last = entry.time
            }
        }
    }
}
