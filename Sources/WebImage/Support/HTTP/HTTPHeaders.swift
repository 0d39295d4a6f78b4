/// Header fields of a request or response, in order; names compare without case.
public struct HTTPHeaders: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    /// A field: name and value.
    public struct Field: Sendable, Hashable {
        /// The name, in the case it was given.
        public var name: String
        /// The value.
        public var value: String
    }

    /// The fields in order; a name can occur several times.
    public private(set) var fields: [Field] = []

    /// No fields.
    public init() {}

    /// One field for each pair.
    public init(dictionaryLiteral elements: (String, String)...) {
        fields = elements.map { Field(name: $0.0, value: $0.1) }
    }

    /// The values of all fields of that name, joined with ", ", or nil without one. Setting replaces them all, or removes
    /// them with nil.
    public subscript(name: String) -> String? {
        get {
            var result: String?
            for field in fields where Self.equal(field.name, name) {
                result = result.map { $0 + ", " + field.value } ?? field.value
            }
            return result
        }
        set {
            fields.removeAll { Self.equal($0.name, name) }
            if let newValue { fields.append(Field(name: name, value: newValue)) }
        }
    }

    /// Adds a field, keeping others of the same name.
    public mutating func add(name: String, value: String) { fields.append(Field(name: name, value: value)) }

    /// Makes room for so many fields.
    mutating func reserveCapacity(_ count: Int) { fields.reserveCapacity(count) }

    /// Adds to the value of the last field: a folded line.
    mutating func continueLast(with text: String) {
        guard let last = fields.indices.last, !text.isEmpty else { return }
        fields[last].value += fields[last].value.isEmpty ? text : " " + text
    }

    /// These fields, with those of `other` in place of fields of the same name.
    func overlaid(with other: HTTPHeaders) -> HTTPHeaders {
        guard !other.fields.isEmpty else { return self }
        var result = self
        for field in other.fields { result[field.name] = nil }
        for field in other.fields { result.add(name: field.name, value: field.value) }
        return result
    }

    /// Whether two names are the same, ASCII letters compared without case.
    static func equal(_ left: String, _ right: String) -> Bool {
        var (left, right) = (left, right)
        guard left.utf8.count == right.utf8.count else { return false }
        return left.withUTF8 { left in
            right.withUTF8 { right in left.indices.allSatisfy { lowercase(left[$0]) == lowercase(right[$0]) } }
        }
    }

    static func lowercase(_ byte: UInt8) -> UInt8 { byte >= 65 && byte <= 90 ? byte + 32 : byte }
}
