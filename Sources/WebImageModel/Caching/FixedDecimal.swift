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
        let sign = value.sign == .minus ? "-" : ""
        guard millionths > 0 else { return "\(sign)\(whole).000000" }
        let digits = String(millionths)
        let padding = String(repeating: "0", count: 6 - digits.utf8.count)
        return "\(sign)\(whole).\(padding)\(digits)"
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
