import WebImage

/// The sizes of a result: to which size the image is scaled, and which part of that remains. Pure arithmetic on whole pixels.
struct VariantSize: Sendable, Hashable {
    /// The size that the image is scaled to.
    var scaledWidth: Int
    var scaledHeight: Int
    /// The size of the part that remains.
    var width: Int
    var height: Int

    /// - Parameters:
    ///   - sourceWidth: The width of the upright image, after its rotation.
    ///   - sourceHeight: Its height.
    init(_ options: VariantOptions, sourceWidth: Int, sourceHeight: Int) {
        let source = (width: Double(max(sourceWidth, 1)), height: Double(max(sourceHeight, 1)))
        let box = Box(options, source: source)
        var (x, y) = Self.factors(options, box, source)
        if !options.enlarge, options.resizingType != .force {
            let most = max(x, y)
            // Keeps the aspect ratio that the factors express.
            if most > 1 { (x, y) = (x / most, y / most) }
        } else if !options.enlarge {
            (x, y) = (min(x, 1), min(y, 1))
        }
        (x, y) = Self.atLeast(options, (x, y), source)
        scaledWidth = Self.side(source.width * x)
        scaledHeight = Self.side(source.height * y)
        (width, height) = (scaledWidth, scaledHeight)
        guard Self.crops(options, box, source) else { return }
        let wanted = (width: box.width ?? Double(scaledWidth), height: box.height ?? Double(scaledHeight))
        if options.resizingType == .fillDown {
            // The aspect ratio of the box within an image that does not cover it.
            let excess = max(wanted.width / Double(scaledWidth), wanted.height / Double(scaledHeight), 1)
            (width, height) = (Self.side(wanted.width / excess), Self.side(wanted.height / excess))
        } else {
            (width, height) = (Self.side(wanted.width), Self.side(wanted.height))
        }
        (width, height) = (min(width, scaledWidth), min(height, scaledHeight))
    }

    /// The requested size in pixels; nil for a side that follows from the other.
    private struct Box {
        var width: Double?
        var height: Double?

        init(_ options: VariantOptions, source: (width: Double, height: Double)) {
            func pixels(_ length: VariantLength, _ original: Double, _ zoom: Double) -> Double? {
                switch length {
                case .automatic: zoom == 1 && options.dpr == 1 ? nil : original * zoom * options.dpr
                case .original: original * zoom * options.dpr
                case .pixels(let count): Double(count) * zoom * options.dpr
                }
            }
            var (width, height) = (options.width, options.height)
            if options.isAdaptive, (source.width > source.height) != Self.isLandscape(width, height) {
                swap(&width, &height)
            }
            // A side alone is not multiplied by what the other one is.
            let isFree = width == .automatic && height == .automatic
            self.width = width == .automatic && !isFree ? nil : pixels(width, source.width, options.zoomWidth)
            self.height = height == .automatic && !isFree ? nil : pixels(height, source.height, options.zoomHeight)
        }

        private static func isLandscape(_ width: VariantLength, _ height: VariantLength) -> Bool {
            guard case .pixels(let width) = width, case .pixels(let height) = height else { return true }
            return width >= height
        }
    }

    private static func factors(
        _ options: VariantOptions,
        _ box: Box,
        _ source: (width: Double, height: Double)
    ) -> (Double, Double) {
        let horizontal = box.width.map { $0 / source.width }
        let vertical = box.height.map { $0 / source.height }
        guard let x = horizontal ?? vertical else { return (1, 1) }
        let y = vertical ?? x
        switch options.resizingType {
        case .force: return (x, y)
        case .fit: return (min(x, y), min(x, y))
        case .fill, .fillDown, .cover: return (max(x, y), max(x, y))
        case .auto:
            let factor = isAlike(box, source) ? max(x, y) : min(x, y)
            return (factor, factor)
        }
    }

    private static func isAlike(_ box: Box, _ source: (width: Double, height: Double)) -> Bool {
        guard let width = box.width, let height = box.height else { return true }
        return (width >= height) == (source.width >= source.height)
    }

    private static func crops(
        _ options: VariantOptions,
        _ box: Box,
        _ source: (width: Double, height: Double)
    ) -> Bool {
        switch options.resizingType {
        case .fill, .fillDown: true
        case .auto: isAlike(box, source)
        case .fit, .force, .cover: false
        }
    }

    private static func atLeast(
        _ options: VariantOptions,
        _ factors: (Double, Double),
        _ source: (width: Double, height: Double)
    ) -> (Double, Double) {
        let width = Double(options.minWidth) * options.dpr / (source.width * factors.0)
        let height = Double(options.minHeight) * options.dpr / (source.height * factors.1)
        let most = max(width, height, 1)
        return (factors.0 * most, factors.1 * most)
    }

    private static func side(_ length: Double) -> Int { Int(min(max(length.rounded(), 1), 65_535)) }
}

extension VariantGravity {
    /// Returns where a part of an image begins along one side.
    ///
    /// - Parameters:
    ///   - whole: The side of the image in pixels.
    ///   - part: The side of the part.
    func begin(of part: Int, in whole: Int, isHorizontal: Bool, dpr: Double) -> Int {
        let offset = isHorizontal ? xOffset : yOffset
        let room = Double(whole - part)
        if kind == .focusPoint {
            return Int(min(max((Double(whole) * offset - Double(part) / 2).rounded(), 0), room))
        }
        let distance = abs(offset) < 1 ? offset * Double(whole) : offset * dpr
        let start: Double
        switch isHorizontal ? horizontal : vertical {
        case 0: start = distance
        case 2: start = room - distance
        default: start = room / 2 + distance
        }
        return Int(min(max(start.rounded(), 0), room))
    }

    /// 0 at the left edge, 1 in the middle, 2 at the right edge.
    private var horizontal: Int {
        switch kind {
        case .west, .northWest, .southWest: 0
        case .east, .northEast, .southEast: 2
        default: 1
        }
    }

    /// 0 at the top edge, 1 in the middle, 2 at the bottom edge.
    private var vertical: Int {
        switch kind {
        case .north, .northWest, .northEast: 0
        case .south, .southWest, .southEast: 2
        default: 1
        }
    }
}
