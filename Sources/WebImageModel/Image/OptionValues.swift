/// A custom option for a custom coder or loader, with the type of its value.
///
/// ```swift
/// enum Exposure: OptionKey { static let defaultValue = 0.0 }
/// options.values[Exposure.self] = 1.5
/// ```
public protocol OptionKey {
    /// The type of the value.
    associatedtype Value: Sendable & Hashable
    /// The value if none was set.
    static var defaultValue: Value { get }
}

/// The values of custom options, by key type.
///
/// They take part in request coalescing: loads with different values are different loads. Without any value they cost nothing.
public struct OptionValues: Sendable, Hashable {
    /// A value of any key's type.
    private struct Value: Sendable, Hashable {
        let content: any Sendable & Hashable

        static func == (left: Value, right: Value) -> Bool { isEqual(left.content, right.content) }

        func hash(into hasher: inout Hasher) { content.hash(into: &hasher) }

        private static func isEqual<Left: Equatable>(_ left: Left, _ right: any Sendable & Hashable) -> Bool {
            guard let right = right as? Left else { return false }
            return left == right
        }
    }

    /// Shared by copies, and immutable: most loads have no values, and nil is cheaper to copy than an empty dictionary.
    private final class Storage: Sendable {
        let values: [ObjectIdentifier: Value]
        init(_ values: [ObjectIdentifier: Value]) { self.values = values }
    }

    /// Nil if there are no values.
    private var storage: Storage?

    /// Creates an empty set of values.
    public init() {}

    /// Indicates whether no option differs from its default.
    package var isEmpty: Bool { storage == nil }

    /// The value of an option. Setting the default removes the option, so that equivalent sets of values are equal.
    public subscript<Key: OptionKey>(_ key: Key.Type) -> Key.Value {
        get {
            // Two steps, because with an optional value type a missing value would be taken for nil.
            guard let value = storage?.values[ObjectIdentifier(key)] else { return Key.defaultValue }
            return value.content as? Key.Value ?? Key.defaultValue
        }
        set {
            var values = storage?.values ?? [:]
            values[ObjectIdentifier(key)] = newValue == Key.defaultValue ? nil : Value(content: newValue)
            storage = values.isEmpty ? nil : Storage(values)
        }
    }

    /// Returns whether both have the same values.
    public static func == (left: OptionValues, right: OptionValues) -> Bool {
        left.storage === right.storage || left.storage?.values == right.storage?.values
    }

    /// Hashes the values.
    public func hash(into hasher: inout Hasher) { hasher.combine(storage?.values) }
}
