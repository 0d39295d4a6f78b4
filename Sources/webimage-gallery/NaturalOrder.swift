/// The order in which people look for names: numbers in them by their value, letters whatever their case.
enum NaturalOrder {
    /// Whether a name stands before another one. A total order: names that differ in case or in zeros alone stand as their bytes do.
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

    /// Takes the digits at the beginning; without zeros that mean nothing.
    private static func takeNumber(_ text: inout Substring) -> Substring {
        let digits = text.prefix { $0.isDigit }
        text.removeFirst(digits.count)
        return digits.drop { $0 == "0" }
    }
}

extension Character {
    fileprivate var isDigit: Bool { ("0"..."9").contains(self) }
}
