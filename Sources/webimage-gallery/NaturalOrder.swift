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
        /// A text whose bytewise order is that of the names; nil unless the name is printable ASCII, each byte a character.
        let order: String?

        init(_ name: String) {
            self.name = name
            folded = name.lowercased()
            order = NaturalOrder.order(of: folded)
        }
    }

    private static func precedes(_ left: Key, _ right: Key) -> Bool {
        if let first = left.order, let second = right.order {
            return first == second ? left.name.utf8.lexicographicallyPrecedes(right.name.utf8) : first < second
        }
        return precedesByCharacters(left, right)
    }

    /// Returns ``Key/order`` of a lower-case name: before each number without its leading zeros stand a zero, because a number compares with
    /// other characters as any digit does, and the number of its digits.
    private static func order(of name: String) -> String? {
        let name = Array(name.utf8)
        guard name.allSatisfy({ (0x20...0x7E).contains($0) }) else { return nil }
        var order: [UInt8] = []
        order.reserveCapacity(name.count + 8)
        var index = 0
        while index < name.count {
            guard isDigit(name[index]) else {
                order.append(name[index])
                index += 1
                continue
            }
            let end = name[index...].firstIndex { !isDigit($0) } ?? name.count
            let digits = name[index..<end].drop { $0 == 0x30 }
            // A byte above it would not be ASCII.
            guard digits.count < 0x80 else { return nil }
            order += [0x30, UInt8(digits.count)]
            order += digits
            index = end
        }
        return String(decoding: order, as: UTF8.self)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

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
