/// Durations in whole ticks of a format. What is rounded off one frame is made up for by the next, so that every frame begins
/// within a tick of when it should. Pure.
package struct FrameTicks: Sendable {
    private let ticksPerSecond: Double
    /// Players do not believe fewer.
    private let fewest: Int
    private let most: Int
    /// What the frames so far were shown too short, in ticks.
    private var owed = 0.0

    package init(perSecond ticksPerSecond: Int, fewest: Int, most: Int) {
        self.ticksPerSecond = Double(ticksPerSecond)
        self.fewest = fewest
        self.most = most
    }

    /// The ticks of the next frame. One that is longer or shorter than the format can say is cut or stretched, and the others
    /// keep their time.
    package mutating func ticks(for seconds: Double) -> Int {
        let wanted = FrameDuration.usable(seconds) * ticksPerSecond + owed
        let ticks = Int(min(max(wanted.rounded(), Double(fewest)), Double(most)))
        let rest = wanted - Double(ticks)
        owed = abs(rest) <= 0.5 ? rest : 0
        return ticks
    }
}
