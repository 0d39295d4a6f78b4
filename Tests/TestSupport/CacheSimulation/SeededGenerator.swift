import Glibc

/// SplitMix64: random numbers that are the same in every run.
public struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// A generator whose numbers follow only from `seed`.
    public init(seed: UInt64) { state = seed }

    /// The next 64 bits.
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// A number in 0 ..< 1.
    public mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }

    /// A number below `bound`, which must be positive.
    public mutating func below(_ bound: Int) -> Int { Int(next().multipliedFullWidth(by: UInt64(bound)).high) }

    /// A draw from the normal distribution of mean 0 and deviation 1.
    public mutating func normal() -> Double { sqrt(-2 * log(1 - unit())) * cos(2 * .pi * unit()) }

    /// A draw from the geometric distribution of this mean, at least 1.
    public mutating func geometric(mean: Double) -> Int { 1 + Int(log(1 - unit()) / log(1 - 1 / max(mean, 1.0001))) }
}

/// Draws ranks 0, 1, 2 … with probability proportional to 1 / (rank + 1) ^ exponent.
public struct ZipfDistribution: Sendable {
    private let cumulative: [Double]

    /// A distribution over `count` ranks.
    public init(count: Int, exponent: Double) {
        var sum = 0.0
        cumulative = (1...count).map { rank in
            sum += pow(Double(rank), -exponent)
            return sum
        }
    }

    /// A rank.
    public func sample(_ random: inout SeededGenerator) -> Int {
        let target = random.unit() * (cumulative.last ?? 0)
        var low = 0
        var high = cumulative.count - 1
        while low < high {
            let middle = (low + high) / 2
            if cumulative[middle] < target { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
