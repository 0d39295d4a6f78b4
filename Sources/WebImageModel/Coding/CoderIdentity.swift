/// The identity of a coder, to compare two coders.
package enum CoderIdentity: Hashable, Sendable {
    /// An object, valid as long as it is retained.
    case object(ObjectIdentifier)
    /// A type whose values have no state, so that all are the same.
    case kind(ObjectIdentifier)
    /// A value that cannot be compared: different from every other.
    case unique(UInt64)

    package init(_ coder: any ImageCoder) { self.init(of: coder) }

    private init<Coder: ImageCoder>(of coder: Coder) {
        if Coder.self is AnyClass {
            // Every load makes this: `as AnyObject` looks through all kinds of values, and took 9 microseconds.
            self = .object(ObjectIdentifier(unsafeBitCast(coder, to: AnyObject.self)))
        } else if MemoryLayout<Coder>.size == 0 {
            self = .kind(ObjectIdentifier(Coder.self))
        } else {
            self = .unique(
                Self.last.withLock { last in
                    last += 1
                    return last
                }
            )
        }
    }

    /// Indicates whether this identity equals no other.
    package var isUnique: Bool {
        if case .unique = self { return true }
        return false
    }

    private static let last = Lock<UInt64>(0)
}
