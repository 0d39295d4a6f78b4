/// Generations (version stamps) of keys. A generation changes with each write or removal, so that bytes that were read before a
/// change are not put into memory after it, and an image is not taken for one of other bytes.
///
/// Keys share 256 generations: occasionally, a key counts as written to, and an image is decoded once more than needed.
struct Generations {
    /// The last element is for all keys.
    private var changes = [UInt32](repeating: 0, count: 257)
    private var writers = [UInt32](repeating: 0, count: 257)

    func generation(of key: MemoryCacheKey) -> Generation {
        let place = Self.place(of: key)
        return Generation(own: changes[place], all: changes[256], isSettled: writers[place] == 0 && writers[256] == 0)
    }

    /// True if the key has neither changed since nor a change pending.
    func isCurrent(_ generation: Generation, of key: MemoryCacheKey) -> Bool {
        generation.isSettled && generation == self.generation(of: key)
    }

    /// Records a change of a key; of all keys if nil.
    mutating func change(_ key: MemoryCacheKey?) {
        changes[Self.place(of: key)] &+= 1
    }

    /// Begins a change in several steps, of a key or of all keys if nil. Ended by ``end(_:)``.
    mutating func begin(_ key: MemoryCacheKey?) {
        writers[Self.place(of: key)] += 1
    }

    /// Ends a change in several steps.
    mutating func end(_ key: MemoryCacheKey?) {
        writers[Self.place(of: key)] -= 1
        change(key)
    }

    private static func place(of key: MemoryCacheKey?) -> Int { key.map { Int($0.keyHash >> 56) } ?? 256 }
}

/// The generation (version stamp) of a cache key.
package struct Generation: Sendable, Hashable {
    fileprivate var own: UInt32
    fileprivate var all: UInt32
    /// True if no change was in progress, in which memory and disk could differ.
    let isSettled: Bool
}
