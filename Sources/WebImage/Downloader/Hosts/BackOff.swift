import Glibc

/// Waits that grow.
enum BackOff {
    /// `base` times `multiplier` as often as there were others, at most `maximum`; senseless figures count as 0.
    static func seconds(base: Double, multiplier: Double, maximum: Double, count: Int) -> Double {
        let longest = clamp(maximum, to: .infinity)
        let factor = pow(clamp(multiplier, to: .infinity), Double(count))
        return clamp(clamp(base, to: longest) * factor, to: longest)
    }

    /// Between 0 and `limit`; what is no number is 0.
    static func clamp(_ value: Double, to limit: Double) -> Double { value > 0 ? min(value, limit) : 0 }
}
