import WebImage

/// The sizes that a server without signatures makes. Without a limit, anybody could fill its processors and its disk with variants.
struct SizeLadder: Sendable, Hashable {
    private let lengths: Set<Int>

    /// - Parameter lengths: The allowed widths and heights in pixels.
    init(_ lengths: some Sequence<Int>) { self.lengths = Set(lengths) }

    /// Checks a request: width and height must be allowed ones, and only the resizing type, a gravity without offsets, and the format may
    /// be chosen besides.
    ///
    /// - Throws: ``ServerError`` with status 403.
    func check(_ options: VariantOptions) throws(ServerError) {
        for length in [options.width, options.height] {
            if case .pixels(let count) = length, !lengths.contains(count) { throw .forbiddenOption("size") }
        }
        var rest = options.canonical
        (rest.width, rest.height) = (.automatic, .automatic)
        (rest.resizingType, rest.format) = (.fit, nil)
        if rest.gravity.kind != .focusPoint, rest.gravity.xOffset == 0, rest.gravity.yOffset == 0 {
            rest.gravity = VariantGravity()
        }
        guard rest == VariantOptions() else { throw .forbiddenOption("options") }
    }
}
