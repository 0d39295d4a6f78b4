/// Version stamps of keys: another one after each write or removal, so that bytes that were read before a change are not put into memory
/// after it, and an image is not taken for that of other bytes.
///
/// Keys share 256 stamps: now and then a key counts as written to, and an image is decoded once more than needed.
struct Generations {
    /// The last is that of all keys.
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

    /// Notes a change of a key; of every key if nil.
    mutating func change(_ key: MemoryCacheKey?) {
        changes[Self.place(of: key)] &+= 1
    }

    /// A change of several steps begins: of a key, or of every key if nil. Ended by ``end(_:)``.
    mutating func begin(_ key: MemoryCacheKey?) {
        writers[Self.place(of: key)] += 1
    }

    /// The last step is done.
    mutating func end(_ key: MemoryCacheKey?) {
        writers[Self.place(of: key)] -= 1
        change(key)
    }

    private static func place(of key: MemoryCacheKey?) -> Int { key.map { Int($0.digest.low >> 56) } ?? 256 }
}

/// The version stamp of a key of a cache.
package struct Generation: Sendable, Hashable {
    fileprivate var own: UInt32
    fileprivate var all: UInt32
    /// Whether no change was half done, with memory and disk of different states.
    let isSettled: Bool
}
