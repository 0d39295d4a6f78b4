/// How one frame of an animation lies on the canvas, and what becomes of it.
package struct AnimationFrame: Sendable, Hashable {
    /// What becomes of the frame's rectangle when its time is over.
    package enum Disposal: Sendable, Hashable {
        /// It stays.
        case keep
        /// It becomes transparent.
        case background
        /// What was there before the frame comes back.
        case previous
    }

    /// Where the frame lies, in pixels of the canvas; parts of it may lie outside.
    package var left = 0
    package var top = 0
    package var width: Int
    package var height: Int
    /// How long it is shown, in seconds.
    package var duration: Double
    package var disposal = Disposal.keep
    /// Whether its pixels, transparent ones too, take the place of what is there, instead of lying over it.
    package var replaces = false
    /// Whether none of its pixels can be transparent.
    package var isOpaque = false

    package init(
        left: Int = 0,
        top: Int = 0,
        width: Int,
        height: Int,
        duration: Double,
        disposal: Disposal = .keep,
        replaces: Bool = false,
        isOpaque: Bool = false
    ) {
        self.left = left
        self.top = top
        self.width = width
        self.height = height
        self.duration = duration
        self.disposal = disposal
        self.replaces = replaces
        self.isOpaque = isOpaque
    }

    /// Whether it hides all of a canvas of that size.
    package func covers(width: Int, height: Int) -> Bool {
        left <= 0 && top <= 0 && left + self.width >= width && top + self.height >= height
    }
}
