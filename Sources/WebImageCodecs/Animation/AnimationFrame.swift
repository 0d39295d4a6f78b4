/// The place of one frame of an animation on the canvas, and its disposal.
package struct AnimationFrame: Sendable, Hashable {
    /// The treatment of the frame's rectangle at the end of its duration.
    package enum Disposal: Sendable, Hashable {
        /// The frame stays.
        case keep
        /// The rectangle becomes transparent.
        case background
        /// The pixels before the frame are restored.
        case previous
    }

    /// The frame's rectangle in pixels of the canvas; parts of it may lie outside.
    package var left = 0
    package var top = 0
    package var width: Int
    package var height: Int
    /// The duration in seconds.
    package var duration: Double
    package var disposal = Disposal.keep
    /// A Boolean value that indicates whether all pixels, including transparent ones, replace those below instead of being blended over
    /// them.
    package var replaces = false
    /// A Boolean value that indicates whether none of the pixels can be transparent.
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

    /// Returns whether the frame covers all of a canvas of that size.
    package func covers(width: Int, height: Int) -> Bool {
        left <= 0 && top <= 0 && left + self.width >= width && top + self.height >= height
    }
}
