/// Natural sort order: numbers by their value, letters case-insensitively.
enum NaturalOrder {
    /// Returns whether a name sorts before another one. A total order: names that differ only in case or leading zeros are compared
    /// bytewise.
    static func precedes(_ left: String, _ right: String) -> Bool {
        var (first, second) = (Substring(left.lowercased()), Substring(right.lowercased()))
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
        return Array(left.utf8).lexicographicallyPrecedes(Array(right.utf8))
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
