/// Tells whether a key was written to or removed since it was last looked at, so that what was read before that is not put
/// into memory after it, and that an image is not taken for that of other bytes.
///
/// Keys share 256 marks: now and then a key passes for written to, and an image is decoded once more than it had to be.
struct WriteMarks {
    private var changes = [UInt32](repeating: 0, count: 256)
    private var writers = [UInt32](repeating: 0, count: 256)
    private var allChanges: UInt32 = 0
    private var allWriters: UInt32 = 0

    /// The state of a key.
    struct Mark: Sendable, Hashable {
        fileprivate var own: UInt32
        fileprivate var all: UInt32
        /// Whether no change was half done, with memory and disk of different states.
        fileprivate(set) var isSettled: Bool
    }

    /// The state of a key now; another one after each change.
    func mark(of key: MemoryCacheKey) -> Mark {
        let place = Self.place(of: key)
        return Mark(own: changes[place], all: allChanges, isSettled: writers[place] == 0 && allWriters == 0)
    }

    /// The state of a key now; another one after each change.
    func mark(of key: String) -> Mark { mark(of: MemoryCacheKey(key)) }

    /// Whether a key has not changed since the mark was taken, nor was about to.
    func isCurrent(_ mark: Mark, of key: String) -> Bool { mark.isSettled && mark == self.mark(of: key) }

    /// Notes a change of a key.
    mutating func change(_ key: String) { changes[Self.place(of: MemoryCacheKey(key))] &+= 1 }

    /// Notes a change of every key.
    mutating func changeAll() { allChanges &+= 1 }

    /// A change of several steps begins: of a key, or of every key if nil. Ended by ``end(_:)``.
    mutating func begin(_ key: String?) {
        if let key { writers[Self.place(of: MemoryCacheKey(key))] += 1 } else { allWriters += 1 }
    }

    /// The last step is done.
    mutating func end(_ key: String?) {
        if let key {
            writers[Self.place(of: MemoryCacheKey(key))] -= 1
            change(key)
        } else {
            allWriters -= 1
            changeAll()
        }
    }

    private static func place(of key: MemoryCacheKey) -> Int { Int(key.digest.low >> 56) }
}
