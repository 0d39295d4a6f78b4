import CSVGShims
import WebImageCodecs

/// How long a document takes to draw: elements may refer to others, which refer to others again, so that a few hundred bytes make
/// millions of drawings.
///
/// Counted from above. What librsvg does for an element is measured in nanoseconds for each pixel of the canvas, as if every filter
/// and every mask covered all of it.
struct SVGWork {
    /// What the drawings of an element come to, those included that it refers to.
    private struct Cost {
        var time = 0.0
        var shapes = 0.0
        var byteCount = 0.0
        /// How long the outlines are, in units of the document.
        var outline = 0.0
        /// How deep librsvg calls itself for it.
        var depth = 1

        /// - Parameter step: how much deeper the other one lies.
        mutating func add(_ other: Cost, times: Double = 1, step: Int = 1) {
            time += other.time * times
            shapes += other.shapes * times
            byteCount += other.byteCount * times
            outline += other.outline * times
            // Not more than it is: who is too deep as it seems is looked at again, and again by all that refer to it.
            depth = max(depth, other.depth + step)
        }
    }

    private enum State {
        case unknown
        /// It is being added up, so many elements deep: what refers to it again is left out, as librsvg leaves it out.
        case begun(Int)
        /// It was added up without what refers to elements around it, which is not left out elsewhere.
        case partial
        case known(Cost)
    }

    /// Seconds that the elements of a document may take, each drawn once, and those that drawing them again by references may take.
    private static let mostSeconds = (once: 60.0, again: 10.0)
    /// How much longer the estimate of a document may be than the time that there is: it takes filters for bigger than they are.
    private static let latitude = 4.0
    /// Of a shape that covers the canvas, in nanoseconds for each pixel; and of each that covers none of it, and of each byte that
    /// says what a shape looks like.
    private static let time = (pixel: 0.8, shape: 10_000.0, byte: 100.0)
    /// Of each piece of a dashed line, seen or not, which takes 70 bytes too; in nanoseconds.
    private static let timeOfDash = 1500.0
    /// Of each pixel that feMorphology looks at for another one, in nanoseconds; measured with librsvg 2.54: 7 to 11.
    private static let timeOfNeighbour = 12.0
    private static let deepest = 512
    /// How often references may be looked up.
    var mostLookups = 1 << 22

    private let elements: SVGElements
    private let rules: [SVGStyleSheet.Key: SVGStyle]
    private let hasRules: Bool
    /// The shortest dashes of the document; nil without any.
    private let dash: Double?
    /// The greatest font of the document, if there is text.
    private let font: Double

    /// - Throws: ``WebImageError/Code/badImageData``; ``WebImageError/Code/limitExceeded`` for what librsvg would take too long to read.
    init(_ elements: SVGElements) throws(WebImageError) {
        self.elements = elements
        let styleSheet = try SVGStyleSheet(elements.styleSheet)
        let time = styleSheet.timeToMatch(elements.elements)
        try Self.check(time, most: Self.mostSeconds.again, name: "seconds to read the SVG document")
        rules = styleSheet.rules
        hasRules = !rules.isEmpty
        let styles = elements.elements.lazy.map(\.style) + Array(rules.values)
        let side = styles.compactMap(\.side).reduce(elements.side, min)
        let fonts = Self.fonts(elements, rules)
        font = elements.elements.contains { $0.name.elementsEqual("text".utf8) } ? fonts.upperBound : 0
        dash = styles.flatMap(\.dashes).map { $0.length(font: fonts.lowerBound, side: side) }.min()
    }

    /// The sizes of fonts that there are at most: the smallest in any case, the greatest where fonts do not grow by references.
    private static func fonts(_ elements: SVGElements, _ rules: [SVGStyleSheet.Key: SVGStyle]) -> ClosedRange<Double> {
        var sizes: [ClosedRange<Double>] = []
        var all = SVGFontSize.usual...SVGFontSize.usual
        // An element that is used has the font of what uses it around it.
        var shrinking = 1.0
        var hasUses = false
        let sheetHasFonts = rules.values.contains { !$0.font.isEmpty }
        for element in elements.elements {
            var own = element.style.font
            if sheetHasFonts {
                for key in SVGStyleSheet.keys(of: element) { if let rule = rules[key] { own.merge(rule.font) } }
            }
            hasUses = hasUses || element.name.elementsEqual("use".utf8)
            shrinking *= min(own.factors?.lowerBound ?? 1, 1)
            let outer = element.parent.map { sizes[$0] } ?? SVGFontSize.usual...SVGFontSize.usual
            // What rules say may not be for the element: so the font around it counts, too.
            let inner = own.resolved(in: outer)
            let size =
                sheetHasFonts
                ? min(inner.lowerBound, outer.lowerBound)...max(inner.upperBound, outer.upperBound) : inner
            sizes.append(size)
            all = min(all.lowerBound, size.lowerBound)...max(all.upperBound, size.upperBound)
        }
        return (hasUses ? all.lowerBound * shrinking : all.lowerBound)...all.upperBound
    }

    /// - Parameters:
    ///   - width: pixels of the canvas.
    ///   - height: the same.
    ///   - scale: pixels that a unit of the document takes.
    ///   - seconds: after how many the decode is ended.
    /// - Throws: ``WebImageError/Code/limitExceeded`` for what would take too long; ``WebImageError/Code/badImageData`` for references
    ///   that are too deep, and for fonts that librsvg gives up on; ``WebImageError/Code/outOfMemory``.
    func check(width: Int, height: Int, scale: Double, seconds: Double = .infinity) throws(WebImageError) {
        guard !elements.elements.isEmpty else { return }
        guard font <= SVGFontSize.greatest else { throw Self.error("its fonts are too great") }
        let result = DeepStack.run { () -> Result<(all: Cost, once: Double), WebImageError> in
            do throws(WebImageError) {
                var run = Run(work: self, width: Double(width), height: Double(height), scale: scale)
                let all = try run.cost(of: 0, depth: 0)
                return .success((all, elements.elements.indices.reduce(0.0) { $0 + run.ownTime(of: $1) }))
            } catch { return .failure(error) }
        }
        guard let result else { throw WebImageError(.outOfMemory, "no memory for a thread") }
        let (all, once) = try result.get()
        let pixels = Double(width) * Double(height)
        let shapes = elements.elements.count { $0.isShape }
        let byteCount = elements.elements.reduce(0) { $0 + $1.byteCount }
        let again =
            (all.time - once) * pixels + max(all.shapes - Double(shapes), 0)
            * (pixels * Self.time.pixel + Self.time.shape)
            + max(all.byteCount - Double(byteCount), 0) * Self.time.byte
        let most = max(seconds, 0) * Self.latitude
        try Self.check(once * pixels, most: min(Self.mostSeconds.once, most))
        try Self.check(again, most: min(Self.mostSeconds.again, most))
        // Who inherits which dashes is not looked at.
        guard let dash, all.outline > 0 else { return }
        try Self.check(all.outline / dash * Self.timeOfDash, most: min(Self.mostSeconds.again, most))
    }

    private static func check(
        _ nanoseconds: Double,
        most: Double,
        name: String = "seconds to draw the SVG document"
    ) throws(WebImageError) {
        // Also what is no number.
        guard nanoseconds <= most * 1e9 else {
            let needed = nanoseconds.isFinite ? min(nanoseconds / 1e9, 1e15) : 1e15
            throw .limitExceeded(
                name,
                allowed: Int(most.rounded(.up)),
                required: Int(needed.rounded(.up))
            )
        }
    }

    /// Adds up for one size of the canvas.
    private struct Run {
        let work: SVGWork
        let width: Double
        let height: Double
        let scale: Double
        private var states: [State]
        private var lookups = 0
        /// The elements that are being added up.
        private var open = 0
        /// The outermost of those that something refers to which is left out.
        private var outermost = Int.max

        init(work: SVGWork, width: Double, height: Double, scale: Double) {
            self.work = work
            (self.width, self.height, self.scale) = (width, height, scale)
            states = Array(repeating: .unknown, count: work.elements.elements.count)
        }

        /// Of an element that is drawn, be it because somebody refers to it.
        mutating func cost(of index: Int, depth: Int) throws(WebImageError) -> Cost {
            var isAgain = false
            switch states[index] {
            case .known(let cost) where cost.depth + depth <= SVGWork.deepest: return cost
            case .begun(let place):
                outermost = min(outermost, place)
                return Cost()
            case .partial:
                isAgain = true
                try look()
            default: break
            }
            guard depth < SVGWork.deepest else { throw SVGWork.error("its references are nested too deeply") }
            let place = open
            let outer = outermost
            open += 1
            outermost = .max
            states[index] = .begun(place)
            let cost = try costOfParts(of: index, depth: depth, isAgain: isAgain)
            open -= 1
            // What was left out because of an element around this one is not left out where others refer to this one.
            states[index] = outermost < place ? .partial : .known(cost)
            outermost = min(outer, outermost < place ? outermost : .max)
            return cost
        }

        /// - Parameter isAgain: whether it was added up before, which may happen very often.
        private mutating func costOfParts(of index: Int, depth: Int, isAgain: Bool) throws(WebImageError) -> Cost {
            let element = work.elements.elements[index]
            var cost = Cost(time: ownTime(of: index), shapes: element.isShape ? 1 : 0)
            cost.byteCount = Double(element.byteCount)
            if element.isShape {
                let line = element.line
                cost.outline = element.outline + outline(of: element.style)
                cost.outline += abs(line[2] - line[0]) + abs(line[3] - line[1])
            }
            var child = index + 1
            while child < element.end {
                if isAgain { try look() }
                let next = work.elements.elements[child]
                if !next.isHidden { cost.add(try self.cost(of: child, depth: depth + 1)) }
                child = max(next.end, child + 1)
            }
            // What lies in it has been counted: what is drawn for each shape is drawn for all of those.
            let shapes = max(cost.shapes, 1)
            let points = max(cost.byteCount, 1)
            var referred = Cost()
            try add(element.style, shapes, points, depth, to: &referred)
            for key in keys(of: element) {
                guard let style = work.rules[key] else { continue }
                try add(style, shapes, points, depth, to: &referred)
                referred.time += style.time
                if element.isShape { referred.outline += outline(of: style) }
            }
            var ancestor = element.inherits ? element.parent : nil
            while let place = ancestor {
                try look()
                let outer = work.elements.elements[place]
                ancestor = outer.parent
                for style in [outer.style] + keys(of: outer).compactMap({ work.rules[$0] }) {
                    try addInherited(style, except: index, shapes, points, depth, to: &referred)
                }
            }
            cost.add(referred, step: 0)
            return cost
        }

        private func outline(of style: SVGStyle) -> Double { style.outline + style.share * work.elements.extent }

        /// Counts what is looked up.
        private mutating func look() throws(WebImageError) {
            lookups += 1
            guard lookups <= work.mostLookups else {
                throw .limitExceeded(
                    "references of the SVG document",
                    allowed: work.mostLookups,
                    required: lookups
                )
            }
        }

        /// Adds what a style refers to.
        private mutating func add(
            _ style: SVGStyle,
            _ shapes: Double,
            _ points: Double,
            _ depth: Int,
            to cost: inout Cost
        ) throws(WebImageError) {
            // A use has the shapes of what it refers to, so that comes first.
            var (shapes, points) = (shapes, points)
            for reference in style.references {
                try look()
                guard reference.times == .once, let target = work.elements.places[reference.name] else { continue }
                let drawn = try self.cost(of: target, depth: depth + 1)
                cost.add(drawn)
                (shapes, points) = (shapes + drawn.shapes, points + drawn.byteCount)
            }
            try addInherited(style, except: nil, shapes, points, depth, to: &cost)
        }

        /// Adds what a style refers to for the shapes that have it.
        private mutating func addInherited(
            _ style: SVGStyle,
            except: Int?,
            _ shapes: Double,
            _ points: Double,
            _ depth: Int,
            to cost: inout Cost
        ) throws(WebImageError) {
            for reference in style.references {
                try look()
                guard reference.times != .once, let target = work.elements.places[reference.name], target != except
                else { continue }
                let times = reference.times == .eachShape ? shapes : points
                cost.add(try self.cost(of: target, depth: depth + 1), times: times)
            }
        }

        private func keys(of element: SVGElements.Element) -> [SVGStyleSheet.Key] {
            // Rules for all are not for what makes up a filter or a gradient.
            guard work.hasRules, !element.name.starts(with: "fe".utf8), !element.name.elementsEqual("stop".utf8) else {
                return []
            }
            return SVGStyleSheet.keys(of: element)
        }

        /// Without what it refers to.
        func ownTime(of index: Int) -> Double {
            let element = work.elements.elements[index]
            var time = element.time + element.style.time
            if let radius = element.radius {
                let unit = scale * work.elements.magnification * (element.measuresByShape ? max(width, height) : 1)
                let most = Double(webimage_svg_most_radius)
                func side(_ radius: Double, _ longest: Double) -> Double {
                    radius > 0 ? min(2 * min(radius * unit, most).rounded(.up) + 1, longest) : 1
                }
                time += SVGWork.timeOfNeighbour * side(radius.x, width) * side(radius.y, height)
            }
            return time
        }
    }

    private static func error(_ reason: String) -> WebImageError {
        WebImageError(.badImageData, "the SVG document is refused: \(reason)")
    }
}
