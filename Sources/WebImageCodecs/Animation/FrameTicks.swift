/// Rounds durations to whole ticks of a format. The rounding error of each frame is carried over to the next, so every frame begins within a tick of
/// its exact time. A pure value.
package struct FrameTicks: Sendable {
    private let ticksPerSecond: Double
    /// Players replace shorter durations.
    private let fewest: Int
    private let most: Int
    /// The accumulated rounding error of the frames so far, in ticks.
    private var owed = 0.0

    package init(perSecond ticksPerSecond: Int, fewest: Int, most: Int) {
        self.ticksPerSecond = Double(ticksPerSecond)
        self.fewest = fewest
        self.most = most
    }

    /// Returns the ticks of the next frame. A duration outside the format's range is clamped, without affecting the other frames.
    package mutating func ticks(for seconds: Double) -> Int {
        let wanted = FrameDuration.usable(seconds) * ticksPerSecond + owed
        let ticks = Int(min(max(wanted.rounded(), Double(fewest)), Double(most)))
        let rest = wanted - Double(ticks)
        owed = abs(rest) <= 0.5 ? rest : 0
        return ticks
    }
}
