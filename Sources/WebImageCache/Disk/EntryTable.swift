import Glibc

/// A cache file as found by a walk through the directory.
struct ScannedEntry: Sendable, Hashable {
    var name: String
    /// The disk space in bytes: the allocated size, but at least the length.
    var allocatedSize: Int
    /// The requested time, in nanoseconds since 1970; now, if it is in the future.
    var time: Int64
    /// A time of the file, as found, that shows whether the file was used since.
    var changeMark: Int64 = .min
}

/// Entries found by a walk, about 70 bytes each, in a priority queue by age.
///
/// Sorted lazily: finding the first entry costs a pass over all entries, each further one almost nothing.
struct EntryTable: Sendable {
    private struct Record: Sendable {
        var time: Int64
        var mark: Int64
        var size: Int
        var nameStart: UInt32
        var nameLength: UInt8

        var name: Range<Int> { Int(nameStart)..<(Int(nameStart) + Int(nameLength)) }

        /// A strict total order: partitions must always become smaller.
        func precedes(_ other: Record) -> Bool {
            time != other.time ? time < other.time : nameStart < other.nameStart
        }
    }

    private var records: [Record] = []
    /// The names, concatenated.
    private var names: [UInt8] = []
    /// The number of records already taken.
    private var head = 0
    /// Pivot positions, from the last to the first: records before a boundary are older than records after it.
    private var boundaries: [Int] = []
    private var random: UInt64 = 0x9E37_79B9_7F4A_7C15

    /// The total size of the remaining entries in bytes.
    private(set) var totalSize = 0

    var count: Int { records.count - head }
    var isEmpty: Bool { count == 0 }

    mutating func append(_ name: UnsafeBufferPointer<UInt8>, time: Int64, mark: Int64, size: Int) {
        // A hundred million entries do not fit; a cache of that size evicts among those that do.
        guard let start = UInt32(exactly: names.count), let length = UInt8(exactly: name.count) else { return }
        names.append(contentsOf: name)
        records.append(Record(time: time, mark: mark, size: size, nameStart: start, nameLength: length))
        totalSize += size
        boundaries.removeAll(keepingCapacity: true)
    }

    mutating func append(contentsOf other: EntryTable) {
        for record in other.records[other.head...] { append(record, of: other) }
    }

    private mutating func append(_ record: Record, of other: EntryTable) {
        other.names.withUnsafeBufferPointer { names in
            let name = UnsafeBufferPointer(rebasing: names[record.name])
            append(name, time: record.time, mark: record.mark, size: record.size)
        }
    }

    /// Calls `body` with the name and size of each entry, in no order.
    func forEach(_ body: (_ name: UnsafeBufferPointer<UInt8>, _ size: Int) -> Void) {
        names.withUnsafeBufferPointer { names in
            for record in records[head...] { body(UnsafeBufferPointer(rebasing: names[record.name]), record.size) }
        }
    }

    /// Returns the time of the oldest entry; nil if the table is empty.
    mutating func oldestTime() -> Int64? {
        guard head < records.count else { return nil }
        // Incremental quicksort: only the front is partitioned, and the pivots are kept for later calls.
        if boundaries.isEmpty { boundaries.append(records.count) }
        while let end = boundaries.last, end > head { boundaries.append(partition(head..<end)) }
        return records[head].time
    }

    /// Removes and returns the oldest entry; nil if the table is empty.
    mutating func popOldest() -> ScannedEntry? {
        guard oldestTime() != nil else { return nil }
        boundaries.removeLast()
        let record = records[head]
        head += 1
        totalSize -= record.size
        return ScannedEntry(
            name: String(decoding: names[record.name], as: UTF8.self),
            allocatedSize: record.size,
            time: record.time,
            changeMark: record.mark
        )
    }

    /// Keeps only the oldest entries, as many as needed to reach `bytes`. Cost: a few passes over all entries.
    mutating func keepOldest(until bytes: Int) {
        var wanted = bytes
        var (low, high) = (head, records.count)
        while wanted > 0, low < high {
            let middle = partition(low..<high)
            let before = records[low..<middle].reduce(0) { $0 + $1.size }
            if before >= wanted {
                high = middle
            } else {
                wanted -= before + records[middle].size
                low = middle + 1
            }
        }
        var kept = EntryTable()
        for record in records[head..<low] { kept.append(record, of: self) }
        self = kept
    }

    /// Partitions the records around a random pivot; returns the pivot's new position.
    private mutating func partition(_ range: Range<Int>) -> Int {
        random ^= random << 13
        random ^= random >> 7
        random ^= random << 17
        let choice = range.lowerBound + Int(random % UInt64(range.count))
        return records.withUnsafeMutableBufferPointer { records in
            let last = range.upperBound - 1
            records.swapAt(choice, last)
            let pivot = records[last]
            var middle = range.lowerBound
            for index in range.lowerBound..<last where records[index].precedes(pivot) {
                records.swapAt(index, middle)
                middle += 1
            }
            records.swapAt(middle, last)
            return middle
        }
    }
}
