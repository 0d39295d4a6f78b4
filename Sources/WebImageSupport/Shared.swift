/// A big immutable value behind a reference, so that copies are cheap.
@usableFromInline
package final class Shared<Value: Sendable & Hashable>: Sendable, Hashable {
    @usableFromInline package let value: Value

    @inlinable
    package init(_ value: Value) { self.value = value }

    @inlinable
    package static func == (left: Shared, right: Shared) -> Bool { left === right || left.value == right.value }

    @inlinable
    package func hash(into hasher: inout Hasher) { hasher.combine(value) }
}
