/// Header fields of a request or response, in order; names compare without case.
public struct HTTPHeaders: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    /// A field: name and value.
    public struct Field: Sendable, Hashable {
        /// The name, in its original case.
        public var name: String
        /// The value.
        public var value: String

        package init(name: String, value: String) { (self.name, self.value) = (name, value) }
    }

    /// The fields in order; a name can occur several times.
    public private(set) var fields: [Field] = []

    /// Creates an empty list of fields.
    public init() {}

    /// Creates one field for each pair.
    public init(dictionaryLiteral elements: (String, String)...) {
        fields = elements.map { Field(name: $0.0, value: $0.1) }
    }

    /// The values of all fields of that name, joined with ", "; nil if there are none. Setting replaces them all, or removes them
    /// with nil.
    public subscript(name: String) -> String? {
        get {
            guard var index = index(of: name, from: 0) else { return nil }
            var result = fields[index].value
            while let next = self.index(of: name, from: index + 1) {
                result += ", " + fields[next].value
                index = next
            }
            return result
        }
        set {
            fields.removeAll { Self.equal($0.name, name) }
            if let newValue { fields.append(Field(name: name, value: newValue)) }
        }
    }

    /// Returns the index of the first field of that name from `start` on.
    func index(of name: String, from start: Int) -> Int? {
        var name = name
        return name.withUTF8 { name in
            // Most names differ in length, so their bytes need not be compared.
            fields.indices[start...].first { index in
                fields[index].name.utf8.count == name.count && Self.equal(fields[index].name, name)
            }
        }
    }

    /// Adds a field, keeping others of the same name.
    public mutating func add(name: String, value: String) { fields.append(Field(name: name, value: value)) }

    /// Reserves capacity for that many fields.
    package mutating func reserveCapacity(_ count: Int) { fields.reserveCapacity(count) }

    /// Appends to the value of the last field: a folded line.
    package mutating func continueLast(with text: String) {
        guard let last = fields.indices.last, !text.isEmpty else { return }
        fields[last].value += fields[last].value.isEmpty ? text : " " + text
    }

    /// Returns these fields, with those of `other` in place of fields of the same name.
    package func overlaid(with other: HTTPHeaders) -> HTTPHeaders {
        guard !other.fields.isEmpty else { return self }
        var result = self
        for field in other.fields { result[field.name] = nil }
        for field in other.fields { result.add(name: field.name, value: field.value) }
        return result
    }

    /// Returns whether two names are equal, ignoring the case of ASCII letters.
    package static func equal(_ left: String, _ right: String) -> Bool {
        guard left.utf8.count == right.utf8.count else { return false }
        var right = right
        return right.withUTF8 { equal(left, $0) }
    }

    private static func equal(_ left: String, _ right: UnsafeBufferPointer<UInt8>) -> Bool {
        var left = left
        return left.withUTF8 { left in
            left.count == right.count && left.indices.allSatisfy { lowercase(left[$0]) == lowercase(right[$0]) }
        }
    }

    static func lowercase(_ byte: UInt8) -> UInt8 { byte >= 65 && byte <= 90 ? byte + 32 : byte }
}
