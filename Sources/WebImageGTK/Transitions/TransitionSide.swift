/// A side of a view.
enum TransitionSide: CaseIterable, Sendable {
    case left
    case right
    case top
    case bottom

    var isHorizontal: Bool { self == .left || self == .right }

    /// The unit vector from the middle to this side.
    var direction: (x: Double, y: Double) {
        switch self {
        case .left: (-1, 0)
        case .right: (1, 0)
        case .top: (0, -1)
        case .bottom: (0, 1)
        }
    }
}
