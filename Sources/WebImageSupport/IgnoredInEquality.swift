/// A value that is ignored when its owner is compared or hashed.
@usableFromInline
package struct IgnoredInEquality<Value: Sendable>: Sendable, Hashable {
    @usableFromInline package var value: Value

    @inlinable
    package init(value: Value) { self.value = value }

    @inlinable
    package static func == (left: IgnoredInEquality, right: IgnoredInEquality) -> Bool { true }

    @inlinable
    package func hash(into hasher: inout Hasher) {}
}
