/// Tells whether a key was written to or removed since it was last looked at, so that what was read before that is not put
/// into memory after it.
///
/// Keys share 256 marks: now and then a key passes for written to, and an image is decoded once more than it had to be.
struct WriteMarks {
    private var marks = [UInt32](repeating: 0, count: 256)
    private var all: UInt32 = 0

    /// The state of a key.
    struct Mark: Sendable, Hashable {
        fileprivate var own: UInt32
        fileprivate var all: UInt32
    }

    /// The state of a key now; another one after each change.
    func mark(of key: String) -> Mark { Mark(own: marks[Self.place(of: key)], all: all) }

    /// Notes a change of a key.
    mutating func change(_ key: String) { marks[Self.place(of: key)] &+= 1 }

    /// Notes a change of every key.
    mutating func changeAll() { all &+= 1 }

    private static func place(of key: String) -> Int { Int(MemoryCacheKey(key).digest.low >> 56) }
}
