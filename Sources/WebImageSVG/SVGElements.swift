import WebImageCodecs

/// The elements of a document, as far as they tell how long it takes to draw it.
struct SVGElements {
    /// An element; those that lie in it follow it, up to `end`.
    struct Element {
        var name: [UInt8]
        var end = 0
        var identifier: [UInt8]?
        var classes: [[UInt8]] = []
        var style = SVGStyle()
        /// What it takes for each pixel of the canvas, in nanoseconds.
        var time = 0.0
        /// The radii of feMorphology, in the units of the document or of the filter's element.
        var radius: (x: Double, y: Double)?
        var measuresByShape = false
        /// The one that it lies in.
        var parent: Int?
        /// Whether it is hidden, and its shapes inherit from what it lies in all the same.
        var inherits = false
        /// Bytes that say what is drawn.
        var byteCount = 0
        /// How long the path is.
        var outline = 0.0
        /// Where a line begins and where it ends.
        var line = SIMD4<Double>.zero

        /// Drawn only where it is referred to.
        var isHidden = false
        var isShape = false
    }

    private(set) var elements: [Element] = []
    /// The first element of each identifier.
    private(set) var places: [[UInt8]: Int] = [:]
    /// The text of all style sheets.
    private(set) var styleSheet: [UInt8] = []
    /// By how much transforms and view boxes make shapes bigger, all together.
    private(set) var magnification = 1.0
    /// No canvas has a longer side, in units of the document.
    private(set) var extent = 300.0
    /// No viewport has a shorter side, in units of the document, but for what style sheets say.
    private(set) var side = 100.0
    private var open: [Int] = []

    private static let hidden: Set<String> = [
        "defs", "symbol", "marker", "mask", "pattern", "clipPath", "filter", "linearGradient", "radialGradient",
        "style",
        "title", "desc", "metadata", "script",
    ]
    private static let heirs: Set<String> = ["pattern", "marker", "mask", "clipPath"]
    private static let mostElements = 1_000_000
    /// The attributes that are looked at, but for addresses.
    static let attributes = SVGStyle.properties.union([
        "id", "class", "style", "transform", "gradientTransform", "patternTransform", "viewBox", "d", "points",
        "radius",
        "numOctaves", "order", "primitiveUnits", "x1", "y1", "x2", "y2", "markerWidth", "markerHeight",
        "patternContentUnits", "maskContentUnits", "clipPathUnits",
    ])
    private static let shapes: Set<String> = [
        "path", "rect", "circle", "ellipse", "line", "polyline", "polygon", "text", "tspan", "textPath", "tref",
        "image",
    ]
    /// Measured with librsvg 2.54, in nanoseconds.
    private static let times: [String: Double] = [
        "image": 30, "feGaussianBlur": 300, "feTurbulence": 400, "feConvolveMatrix": 300, "feMorphology": 200,
        "feDiffuseLighting": 300, "feSpecularLighting": 300, "feDisplacementMap": 2600, "feOffset": 100, "feFlood": 30,
    ]
    private static let timeOfPrimitive = 200.0
    private static let timeOfFactor = 18.0
    private static let timeOfOctave = 170.0

    /// - Throws: ``WebImageError/Code/badImageData``, ``WebImageError/Code/limitExceeded``.
    mutating func take(_ event: SVGMarkup.Event) throws(WebImageError) {
        switch event {
        case .open(let name):
            let text = String(decoding: name, as: UTF8.self)
            var element = Element(name: Array(name))
            element.isHidden = Self.hidden.contains(text)
            element.isShape = Self.shapes.contains(text)
            element.time = Self.times[text] ?? (text.hasPrefix("fe") ? Self.timeOfPrimitive : 0)
            element.parent = open.last
            element.inherits = Self.heirs.contains(text)
            // That many are all that librsvg reads.
            guard elements.count < Self.mostElements else {
                throw .limitExceeded(
                    "elements of the SVG document",
                    allowed: Self.mostElements,
                    required: elements.count + 1
                )
            }
            open.append(elements.count)
            elements.append(element)
        case .attribute(let name, let value): try take(String(decoding: name, as: UTF8.self), value.text)
        case .close:
            guard let last = open.popLast() else { return }
            elements[last].end = elements.count
        case .text(let text):
            guard let last = open.last else { return }
            if elements[last].name.elementsEqual("style".utf8) {
                styleSheet += text
            } else {
                elements[last].byteCount += text.count
            }
        }
    }

    /// Ends what was left open.
    mutating func finish() {
        while let last = open.popLast() { elements[last].end = elements.count }
        magnify(styleSheet)
    }

    private mutating func take(_ attribute: String, _ value: [UInt8]) throws(WebImageError) {
        guard let last = open.last else { return }
        switch attribute {
        case "id":
            elements[last].identifier = value
            if places[value] == nil { places[value] = last }
        case "class":
            elements[last].classes = value.split { $0 <= 0x20 }.map(Array.init)
        case "style":
            try elements[last].style.set(declarations: value)
            magnify(value)
        case "href":
            let address = value.drop { $0 <= 0x20 }
            // Others, links among them, draw nothing of what they refer to.
            let draws = ["use", "feImage", "pattern", "tref", "linearGradient", "radialGradient", "filter", "textPath"]
            if address.first == UInt8(ascii: "#"), draws.contains(String(decoding: elements[last].name, as: UTF8.self))
            {
                elements[last].style.refer(to: address.dropFirst().prefix { $0 > 0x20 }, .once)
            }
        case "transform", "gradientTransform", "patternTransform": magnify(value)
        case "viewBox":
            if last > 0 { magnification *= 1000 }
            let numbers = String(decoding: value, as: UTF8.self).split { $0 == "," || $0.isWhitespace }
            extent = numbers.reduce(extent) { max($0, abs(Double($1) ?? .infinity)) }
            side = numbers.dropFirst(2).reduce(side) { shortest($0, Double($1)) }
        // A viewport of the shape's own: 1 by 1.
        case "patternContentUnits", "maskContentUnits", "clipPathUnits":
            if String(decoding: value, as: UTF8.self).contains("objectBoundingBox") { side = min(side, 1) }
        case "markerWidth", "markerHeight": side = shortest(side, SVGOutline.side(value))
        case "d", "points":
            elements[last].byteCount += value.count
            elements[last].outline += attribute == "d" ? SVGOutline.path(value) : SVGOutline.points(value)
        case "x1", "y1", "x2", "y2":
            let place = ["x1", "y1", "x2", "y2"].firstIndex(of: attribute) ?? 0
            let (number, unit) = SVGOutline.number(String(decoding: value, as: UTF8.self))
            let isPlain = unit.isEmpty || unit == "px"
            elements[last].line[place] =
                isPlain ? number : SVGOutline.length(String(decoding: value, as: UTF8.self)) * (place < 2 ? -1 : 1)
        case "radius", "numOctaves", "order", "primitiveUnits": takeFilter(attribute, value, last)
        default:
            guard SVGStyle.properties.contains(attribute) else { return }
            try elements[last].style.set(attribute, SVGStyleSheet.clean(value))
            if attribute == "width" || attribute == "height", Self.viewports.contains(elements[last].name) {
                shrink(value)
            }
            guard attribute == "width" || attribute == "height", elements[last].name.elementsEqual("svg".utf8) else {
                return
            }
            extent = max(extent, elements[last].style.outline)
        }
    }

    /// What has a width and a height that percentages in it are of.
    private static let viewports = Set(["svg", "use", "symbol", "pattern"].map { Array($0.utf8) })

    private func shortest(_ side: Double, _ other: Double?) -> Double {
        guard let other, other > 0 else { return side }
        return min(side, other)
    }

    /// A viewport has such a width or height.
    private mutating func shrink(_ value: [UInt8]) {
        let (number, unit) = SVGOutline.number(String(decoding: value, as: UTF8.self))
        guard number > 0 else { return }
        // Each may be a part of one that it lies in.
        if unit == "%" { side *= min(number / 100, 1) } else { side = min(side, number) }
    }

    private mutating func takeFilter(_ attribute: String, _ value: [UInt8], _ index: Int) {
        let text = String(decoding: value, as: UTF8.self)
        // Two numbers may stand together without a gap, and comments between them.
        let numbers = text.split { $0 == "," || $0.isWhitespace }.map { Double($0) ?? .infinity }
        let (first, second) = (numbers.first ?? 1, numbers.last ?? 1)
        switch attribute {
        case "radius":
            elements[index].radius = (abs(first), abs(second))
            elements[index].measuresByShape = open.contains { elements[$0].measuresByShape }
        case "numOctaves": elements[index].time += min(max(first, 9), 32) * Self.timeOfOctave
        case "order": elements[index].time += min(abs(first), 20) * min(abs(second), 20) * Self.timeOfFactor
        default: elements[index].measuresByShape = text.contains("objectBoundingBox")
        }
    }

    /// Takes the greatest number of each function that can make something bigger.
    private mutating func magnify(_ value: [UInt8]) {
        let text = String(decoding: SVGStyleSheet.clean(value), as: UTF8.self).lowercased()
        for function in text.split(separator: ")") {
            guard let open = function.lastIndex(of: "("),
                let name = function[..<open].split(whereSeparator: { !$0.isLetter && !$0.isNumber }).last,
                ["scale", "matrix", "skew"].contains(where: { name.hasPrefix($0) })
            else { continue }
            let isMatrix = name.hasPrefix("matrix")
            let numbers = function[function.index(after: open)...].split {
                !($0.isNumber || "+-.e".contains($0))
            }.prefix(isMatrix ? 4 : 3).map { abs(Double($0) ?? 1000) }
            let isSkew = name.hasPrefix("skew")
            magnification *= max(isSkew ? 100 : numbers.reduce(0, max) * (isMatrix ? 2 : 1), 1)
        }
        if magnification.isNaN { magnification = .infinity }
    }
}
