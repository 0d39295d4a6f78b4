/// Formats numbers as C's `%f` does in the "C" locale, whatever locale the program has set.
package enum FixedDecimal {
    /// Returns `value` with six decimals, correctly rounded. Numbers from 2^63 on, which no image has, are printed the way Swift
    /// does.
    package static func string(_ value: Double) -> String {
        guard value.isFinite else { return value.isNaN ? "nan" : (value < 0 ? "-inf" : "inf") }
        let magnitude = value.magnitude
        guard magnitude < 0x1p63 else { return value.description }
        var whole = UInt64(magnitude)
        var millionths = roundedMillionths(magnitude - Double(whole))
        if millionths == 1_000_000 {
            whole += 1
            millionths = 0
        }
        return digits(isNegative: value.sign == .minus, whole, millionths)
    }

    /// Writes the digits from the last to the first: every load of a view makes two such numbers, on the main thread.
    private static func digits(isNegative: Bool, _ whole: UInt64, _ millionths: UInt64) -> String {
        var count = isNegative ? 9 : 8
        var rest = whole
        while rest > 9 { (rest, count) = (rest / 10, count + 1) }
        return String(unsafeUninitializedCapacity: count) { output in
            var position = count
            func prepend(_ byte: UInt8) {
                position -= 1
                output.initializeElement(at: position, to: byte)
            }
            func prependDigit(of number: inout UInt64) {
                prepend(UInt8(ascii: "0") + UInt8(number % 10))
                number /= 10
            }
            var (whole, millionths) = (whole, millionths)
            for _ in 0..<6 { prependDigit(of: &millionths) }
            prepend(UInt8(ascii: "."))
            repeat { prependDigit(of: &whole) } while whole > 0
            if isNegative { prepend(UInt8(ascii: "-")) }
            return count
        }
    }

    /// Returns a fraction below 1 in millionths, ties to even. The product loses bits; if it looks like a tie, the lost part
    /// decides.
    private static func roundedMillionths(_ fraction: Double) -> UInt64 {
        let product = fraction * 1e6
        let lost = (-product).addingProduct(fraction, 1e6)
        let floor = product.rounded(.down)
        if product - floor == 0.5, lost != 0 { return UInt64(floor) + (lost > 0 ? 1 : 0) }
        return UInt64(product.rounded(.toNearestOrEven))
    }
}
