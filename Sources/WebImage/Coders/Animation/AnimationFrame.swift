/// How one frame of an animation lies on the canvas, and what becomes of it.
struct AnimationFrame: Sendable, Hashable {
    /// What becomes of the frame's rectangle when its time is over.
    enum Disposal: Sendable, Hashable {
        /// It stays.
        case keep
        /// It becomes transparent.
        case background
        /// What was there before the frame comes back.
        case previous
    }

    /// Where the frame lies, in pixels of the canvas; parts of it may lie outside.
    var left = 0
    var top = 0
    var width: Int
    var height: Int
    /// How long it is shown, in seconds.
    var duration: Double
    var disposal = Disposal.keep
    /// Whether its pixels, transparent ones too, take the place of what is there, instead of lying over it.
    var replaces = false
    /// Whether none of its pixels can be transparent.
    var isOpaque = false

    /// Whether it hides all of a canvas of that size.
    func covers(width: Int, height: Int) -> Bool {
        left <= 0 && top <= 0 && left + self.width >= width && top + self.height >= height
    }
}
