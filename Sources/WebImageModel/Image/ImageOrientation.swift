/// The rotation or mirroring that shows stored pixels upright; raw values are the numbers of the EXIF tag.
public enum ImageOrientation: Int, Sendable, Hashable, CaseIterable {
    /// As stored.
    case up = 1
    /// Mirrored left to right.
    case upMirrored = 2
    /// Rotated by 180°.
    case down = 3
    /// Mirrored top to bottom.
    case downMirrored = 4
    /// Mirrored along the diagonal from top left to bottom right.
    case leftMirrored = 5
    /// To be rotated by 90° clockwise.
    case right = 6
    /// Mirrored along the diagonal from top right to bottom left.
    case rightMirrored = 7
    /// To be rotated by 90° counter-clockwise.
    case left = 8

    /// Returns the orientation for an EXIF value; ``up`` for every number outside 1...8.
    package init(exif value: Int) { self = ImageOrientation(rawValue: value) ?? .up }

    /// Indicates whether showing the image upright swaps its width and height.
    package var swapsSides: Bool { rawValue >= 5 }
}
