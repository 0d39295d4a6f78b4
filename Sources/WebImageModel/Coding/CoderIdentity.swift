/// Tells whether two coders are the same one.
package enum CoderIdentity: Hashable, Sendable {
    /// An object, as long as somebody holds it.
    case object(ObjectIdentifier)
    /// Values of this type have no state to differ in.
    case kind(ObjectIdentifier)
    /// A value that cannot be compared: the same as no other.
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

    /// Whether there is no other that is the same.
    package var isUnique: Bool {
        if case .unique = self { return true }
        return false
    }

    private static let last = Lock<UInt64>(0)

    private static func size<Coder: ImageCoder>(_ coder: Coder) -> Int { MemoryLayout<Coder>.size }
}
