/// A value that does not count when what has it is compared.
package struct Uncompared<Value: Sendable>: Sendable, Hashable {
    package var value: Value

    @inlinable
    package init(value: Value) { self.value = value }

    @inlinable
    package static func == (left: Uncompared, right: Uncompared) -> Bool { true }

    @inlinable
    package func hash(into hasher: inout Hasher) {}
}
