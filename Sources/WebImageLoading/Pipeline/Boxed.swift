/// A value behind a reference, for nested keys: a copy costs one retain, and the hash is computed once. Boxes are equal if their
/// values are.
struct Boxed<Value: Hashable & Sendable>: Hashable, Sendable {
    private final class Box: Sendable {
        let value: Value
        let hash: Int

        init(_ value: Value) {
            self.value = value
            hash = value.hashValue
        }
    }

    private let box: Box

    init(_ value: Value) { box = Box(value) }

    var value: Value { box.value }

    /// Returns a copy with a change.
    func with(_ change: (inout Value) -> Void) -> Boxed {
        var copy = value
        change(&copy)
        return Boxed(copy)
    }

    static func == (left: Boxed, right: Boxed) -> Bool {
        left.box === right.box || left.box.hash == right.box.hash && left.box.value == right.box.value
    }

    func hash(into hasher: inout Hasher) { hasher.combine(box.hash) }
}

/// A value compared by a separate identifier, for values that are not Hashable: objects by their identity, for example.
struct Identified<Value: Sendable, ID: Hashable & Sendable>: Hashable, Sendable {
    let value: Value
    let id: ID

    init(_ value: Value, by id: ID) {
        self.value = value
        self.id = id
    }

    static func == (left: Identified, right: Identified) -> Bool { left.id == right.id }

    func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

extension Identified where ID == ObjectIdentifier {
    /// Creates an object compared by its identity.
    init(_ object: Value) where Value: AnyObject { self.init(object, by: ObjectIdentifier(object)) }
}
