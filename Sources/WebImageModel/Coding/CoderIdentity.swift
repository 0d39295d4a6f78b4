/// The identity of a coder, to compare two coders.
package enum CoderIdentity: Hashable, Sendable {
    /// An object, valid as long as it is retained.
    case object(ObjectIdentifier)
    /// A type whose values have no state, so that all are the same.
    case kind(ObjectIdentifier)
    /// A value that cannot be compared: different from every other.
    case unique(UInt64)

    package init(_ coder: any ImageCoder) {
        if type(of: coder) is AnyClass {
            self = .object(ObjectIdentifier(coder as AnyObject))
        } else if Self.size(coder) == 0 {
            self = .kind(ObjectIdentifier(type(of: coder)))
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

    private static func size<Coder: ImageCoder>(_ coder: Coder) -> Int { MemoryLayout<Coder>.size }
}
