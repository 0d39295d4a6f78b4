import Glibc

/// A cache file as a walk through the directory found it.
struct ScannedEntry: Sendable, Hashable {
    var name: String
    /// Disk space in bytes: what is allocated, but not less than the length.
    var allocatedSize: Int
    /// The time that the walk was asked for, in nanoseconds since 1970; now, if it lies in the future.
    var time: Int64
    /// A time of the file that tells whether it has been used since: as it was found.
    var changeMark: Int64 = .min
}

/// Entries that a walk found, about 70 bytes each, from which the oldest can be taken.
///
/// Nothing is sorted but what is taken: finding the first costs a pass over all, each further one hardly anything.
struct EntryTable: Sendable {
    private struct Record: Sendable {
        var time: Int64
        var mark: Int64
        var size: Int
        var nameStart: UInt32
        var nameLength: UInt8

        var name: Range<Int> { Int(nameStart)..<(Int(nameStart) + Int(nameLength)) }

        /// No two are equal, which partitions rely on to get smaller.
        func precedes(_ other: Record) -> Bool {
            time != other.time ? time < other.time : nameStart < other.nameStart
        }
    }

    private var records: [Record] = []
    /// One after the other.
    private var names: [UInt8] = []
    /// Records before this one have been taken.
    private var head = 0
    /// Rising from the last to the first: what stands before a boundary is older than what stands behind it.
    private var boundaries: [Int] = []
    private var random: UInt64 = 0x9E37_79B9_7F4A_7C15

    /// Bytes of all that are there.
    private(set) var totalSize = 0

    var count: Int { records.count - head }
    var isEmpty: Bool { count == 0 }

    mutating func append(_ name: UnsafeBufferPointer<UInt8>, time: Int64, mark: Int64, size: Int) {
        // A hundred million entries do not fit; a cache of that many evicts among those that do.
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

    /// Calls `body` with name and size of each, in no order.
    func forEach(_ body: (_ name: UnsafeBufferPointer<UInt8>, _ size: Int) -> Void) {
        names.withUnsafeBufferPointer { names in
            for record in records[head...] { body(UnsafeBufferPointer(rebasing: names[record.name]), record.size) }
        }
    }

    /// The time of the oldest; nil when there is none.
    mutating func oldestTime() -> Int64? {
        guard head < records.count else { return nil }
        // Incremental quicksort: partitions are only made in front, and remembered for what comes behind.
        if boundaries.isEmpty { boundaries.append(records.count) }
        while let end = boundaries.last, end > head { boundaries.append(partition(head..<end)) }
        return records[head].time
    }

    /// Takes the oldest; nil when there is none.
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

    /// Drops all but the oldest entries, as many as it takes to reach `bytes`. Cost: a few passes over all.
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

    /// Puts what precedes one of the records, chosen at random, in front of it; where that one stands then.
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
