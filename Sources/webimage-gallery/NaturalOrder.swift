/// Natural sort order: numbers by their value, letters case-insensitively.
enum NaturalOrder {
    /// Returns the names in natural order.
    static func sorted(_ names: [String]) -> [String] {
        names.map { Key($0) }.sorted(by: precedes).map(\.name)
    }

    /// Returns whether a name sorts before another one. A total order: names that differ only in case or leading zeros are compared
    /// bytewise.
    static func precedes(_ left: String, _ right: String) -> Bool { precedes(Key(left), Key(right)) }

    /// A name prepared for comparisons.
    private struct Key {
        let name: String
        /// The lower-case name.
        let folded: String
        /// The bytes of ``folded`` if they are printable ASCII, each a character; else nil.
        let bytes: [UInt8]?

        init(_ name: String) {
            self.name = name
            folded = name.lowercased()
            let bytes = Array(folded.utf8)
            self.bytes = bytes.allSatisfy { (0x20...0x7E).contains($0) } ? bytes : nil
        }
    }

    private static func precedes(_ left: Key, _ right: Key) -> Bool {
        if let first = left.bytes, let second = right.bytes {
            return order(first[...], second[...]) ?? left.name.utf8.lexicographicallyPrecedes(right.name.utf8)
        }
        return precedesByCharacters(left, right)
    }

    /// Returns whether the first name sorts before the second one, both in ASCII; nil if they are equal but for leading zeros.
    private static func order(_ first: ArraySlice<UInt8>, _ second: ArraySlice<UInt8>) -> Bool? {
        var (first, second) = (first, second)
        while let head = first.first, let otherHead = second.first {
            if isDigit(head), isDigit(otherHead) {
                let (number, otherNumber) = (takeNumber(&first), takeNumber(&second))
                if number.count != otherNumber.count { return number.count < otherNumber.count }
                if number != otherNumber { return number.lexicographicallyPrecedes(otherNumber) }
            } else {
                if head != otherHead { return head < otherHead }
                first.removeFirst()
                second.removeFirst()
            }
        }
        return first.isEmpty == second.isEmpty ? nil : first.isEmpty
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    private static func takeNumber(_ text: inout ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let digits = text.prefix { isDigit($0) }
        text.removeFirst(digits.count)
        return digits.drop { $0 == 0x30 }
    }

    private static func precedesByCharacters(_ left: Key, _ right: Key) -> Bool {
        var (first, second) = (Substring(left.folded), Substring(right.folded))
        while let head = first.first, let otherHead = second.first {
            if head.isDigit, otherHead.isDigit {
                let (number, otherNumber) = (takeNumber(&first), takeNumber(&second))
                if number.count != otherNumber.count { return number.count < otherNumber.count }
                if number != otherNumber { return number < otherNumber }
            } else {
                if head != otherHead { return head < otherHead }
                first.removeFirst()
                second.removeFirst()
            }
        }
        if first.isEmpty != second.isEmpty { return first.isEmpty }
        return left.name.utf8.lexicographicallyPrecedes(right.name.utf8)
    }

    /// Removes the leading digits and returns them without leading zeros.
    private static func takeNumber(_ text: inout Substring) -> Substring {
        let digits = text.prefix { $0.isDigit }
        text.removeFirst(digits.count)
        return digits.drop { $0 == "0" }
    }
}

extension Character {
    fileprivate var isDigit: Bool { ("0"..."9").contains(self) }
}
