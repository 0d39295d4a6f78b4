/// The order in which the frames of an animation are shown.
public enum AnimationPlaybackMode: Int, Sendable, Hashable, CaseIterable {
    /// 0 1 2 0 1 2 …
    case normal = 0
    /// 2 1 0 2 1 0 …
    case reverse = 1
    /// 0 1 2 1 0 1 …; one loop runs there and back.
    case bounce = 2
    /// 2 1 0 1 2 1 …; one loop runs there and back.
    case reversedBounce = 3
}
