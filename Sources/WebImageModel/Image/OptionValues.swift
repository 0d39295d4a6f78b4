/// Names an option of one's own, for a coder or loader of one's own, and says what type its value has.
///
/// ```swift
/// enum Page: OptionKey { static let defaultValue = 0 }
/// options.values[Page.self] = 3
/// ```
public protocol OptionKey {
    /// The type of the value.
    associatedtype Value: Sendable & Hashable
    /// The value where none was set.
    static var defaultValue: Value { get }
}

/// Values of options that this library does not know, by key types.
///
/// They take part in what is compared when work is shared: loads with different values are different loads. Without any
/// value it costs nothing.
public struct OptionValues: Sendable, Hashable {
    /// A value of some key's type.
    private struct Value: Sendable, Hashable {
        let content: any Sendable & Hashable

        static func == (left: Value, right: Value) -> Bool { isEqual(left.content, right.content) }

        func hash(into hasher: inout Hasher) { content.hash(into: &hasher) }

        private static func isEqual<Left: Equatable>(_ left: Left, _ right: any Sendable & Hashable) -> Bool {
            guard let right = right as? Left else { return false }
            return left == right
        }
    }

    /// Shared by copies, and never changed: most loads have none, and a nil is cheaper to copy than an empty dictionary.
    private final class Storage: Sendable {
        let values: [ObjectIdentifier: Value]
        init(_ values: [ObjectIdentifier: Value]) { self.values = values }
    }

    /// Nil when there are no values.
    private var storage: Storage?

    /// No values.
    public init() {}

    /// Whether no option differs from its default.
    public var isEmpty: Bool { storage == nil }

    /// The value of an option. Setting the default takes the option out, so that values that mean the same are equal.
    public subscript<Key: OptionKey>(_ key: Key.Type) -> Key.Value {
        get {
            // Not in one expression: where the value is an optional, a missing one would pass for nil.
            guard let value = storage?.values[ObjectIdentifier(key)] else { return Key.defaultValue }
            return value.content as? Key.Value ?? Key.defaultValue
        }
        set {
            var values = storage?.values ?? [:]
            values[ObjectIdentifier(key)] = newValue == Key.defaultValue ? nil : Value(content: newValue)
            storage = values.isEmpty ? nil : Storage(values)
        }
    }

    /// Whether both have the same values.
    public static func == (left: OptionValues, right: OptionValues) -> Bool {
        left.storage === right.storage || left.storage?.values == right.storage?.values
    }

    /// Feeds the values.
    public func hash(into hasher: inout Hasher) { hasher.combine(storage?.values) }
}
