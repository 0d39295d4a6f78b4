import WebImageCodecs

/// What an element or a rule of a style sheet asks for that takes time: references to other elements, and passes over the canvas.
struct SVGStyle {
    /// How often what is referred to is drawn.
    enum Times: Hashable {
        case once
        /// For each shape.
        case eachShape
        /// For each point of each shape.
        case eachPoint
    }

    struct Reference: Hashable {
        let name: [UInt8]
        let times: Times
    }

    private(set) var references: Set<Reference> = []
    /// Nanoseconds for each pixel of the canvas.
    private(set) var time = 0.0

    /// The dashed lines.
    private(set) var dashes: [SVGDash] = []
    /// The sizes of fonts.
    private(set) var font = SVGFontSize()
    /// The shortest width or height that a style says, which a viewport may have; nil without one.
    private(set) var side: Double?
    /// How long the outline is that the sides and radii make.
    private(set) var outline = 0.0
    /// The same of those that are parts of the canvas, in sides of it.
    private(set) var share = 0.0

    var isEmpty: Bool {
        references.isEmpty && time == 0 && dashes.isEmpty && font.isEmpty && side == nil && outline == 0 && share == 0
    }

    /// The properties that are looked at.
    static let properties: Set<String> = [
        "filter", "mask", "clip-path", "fill", "stroke", "marker", "marker-start", "marker-mid", "marker-end",
        "opacity",
        "mix-blend-mode", "isolation", "stroke-dasharray", "width", "height", "r", "rx", "ry",
        "font-size", "font",
    ]

    // Measured with librsvg 2.54.
    private static let timeOfGroup = 3.0
    private static let timeOfMask = 8.0
    private static let timeOfFilter = 20.0
    private static let timeOfFilterFunction = 800.0
    /// A style that says more of them has shorter ones instead.
    private static let mostDashes = 8

    mutating func merge(_ other: SVGStyle) {
        references.formUnion(other.references)
        time += other.time
        outline += other.outline
        share += other.share
        for dash in other.dashes { add(dash) }
        font.merge(other.font)
        side = [side, other.side].compactMap(\.self).min()
    }

    private mutating func add(_ dash: SVGDash?) {
        guard let dash, !dashes.contains(dash) else { return }
        if dashes.count < Self.mostDashes { return dashes.append(dash) }
        dashes[0] = dashes[0].shorter(dash)
    }

    mutating func refer(to name: some Collection<UInt8>, _ times: Times) {
        references.insert(Reference(name: SVGStyleSheet.original(name), times: times))
    }

    /// Takes a property, of an attribute or of a declaration.
    ///
    /// - Throws: ``WebImageError/Code/badImageData`` for something that lies in an address, where nobody looks at it.
    mutating func set(_ property: String, _ value: [UInt8]) throws(WebImageError) {
        let times: Times
        switch property {
        case "filter":
            let functions = value.count { $0 == UInt8(ascii: "(") }
            times = .once
            time += Self.timeOfFilter + Double(functions) * Self.timeOfFilterFunction
        case "mask": (times, time) = (.once, time + Self.timeOfMask)
        case "clip-path": (times, time) = (.once, time + Self.timeOfGroup)
        case "fill", "stroke", "marker-start", "marker-end": times = .eachShape
        case "marker", "marker-mid": times = .eachPoint
        case "opacity", "mix-blend-mode", "isolation":
            time += Self.timeOfGroup
            return
        case "stroke-dasharray":
            add(SVGOutline.dash(value))
            return
        case "font-size", "font":
            font.take(String(decoding: value, as: UTF8.self), isShorthand: property == "font")
            return
        case "width", "height", "r", "rx", "ry":
            // Of a circle that is 2π, of a rectangle 2.
            let text = String(decoding: value, as: UTF8.self)
            let (number, unit) = SVGOutline.number(text)
            if unit == "%" { share += 7 * abs(number) / 100 } else { outline += 7 * SVGOutline.length(text) }
            return
        default: return
        }
        for address in Self.addresses(in: value) {
            if address.first == UInt8(ascii: "#") {
                if property == "filter" { time -= Self.timeOfFilterFunction }
                refer(to: address.dropFirst(), times)
            } else if String(decoding: address.lazy.filter { $0 > 0x20 }.prefix(5), as: UTF8.self).lowercased()
                == "data:"
            {
                throw WebImageError(.badImageData, "the SVG document is refused: it refers into an address")
            }
        }
    }

    /// Takes the declarations of a `style` attribute.
    ///
    /// - Throws: ``WebImageError/Code/badImageData``.
    mutating func set(declarations: [UInt8]) throws(WebImageError) { try set(clean: SVGStyleSheet.clean(declarations)) }

    /// The same, without comments and escapes. What stands in braces is not told from what stands around them, after which a
    /// declaration may begin as after a semicolon.
    mutating func set(clean declarations: some Collection<UInt8>) throws(WebImageError) {
        for declaration in declarations.split(whereSeparator: { "{};".utf8.contains($0) }) {
            guard let colon = declaration.firstIndex(of: UInt8(ascii: ":")) else { continue }
            let name = String(decoding: declaration[..<colon].filter { $0 > 0x20 }, as: UTF8.self).lowercased()
            let value = Array(declaration[declaration.index(after: colon)...])
            if name == "width" || name == "height" {
                side = [side, SVGOutline.side(value)].compactMap(\.self).min()
            }
            try set(name, value)
        }
    }

    /// What stands in `url(…)`, without spaces and quotes.
    private static func addresses(in value: [UInt8]) -> [ArraySlice<UInt8>] {
        var addresses: [ArraySlice<UInt8>] = []
        var rest = value[...]
        while let start = rest.firstIndex(of: UInt8(ascii: "(")) {
            let end = rest[start...].firstIndex(of: UInt8(ascii: ")")) ?? rest.endIndex
            if String(decoding: rest[..<start].suffix(3), as: UTF8.self).lowercased() == "url" {
                let isOutside: (UInt8) -> Bool = { SVGMarkup.isSpace($0) || "\"'".utf8.contains($0) }
                let inner = rest[(start + 1)..<end].drop(while: isOutside)
                addresses.append(inner.lastIndex { !isOutside($0) }.map { inner[...$0] } ?? [])
            }
            rest = rest[min(end + 1, rest.endIndex)...]
        }
        return addresses
    }
}

/// The sizes of fonts that an element or a rule asks for, from the smallest to the greatest.
struct SVGFontSize {
    /// Those that say how big they are, in pixels.
    private(set) var sizes: ClosedRange<Double>?
    /// Those that are given in sizes of the font around them.
    private(set) var factors: ClosedRange<Double>?

    /// In pixels, where nothing else is said.
    static let usual = 12.0
    /// librsvg gives up on fonts twice as great (2^31 units of Pango), and says so on standard error.
    static let greatest = 1_048_576.0

    var isEmpty: Bool { sizes == nil && factors == nil }

    mutating func merge(_ other: SVGFontSize) {
        sizes = Self.union(sizes, other.sizes)
        factors = Self.union(factors, other.factors)
    }

    /// The sizes in a font of such sizes.
    func resolved(in outer: ClosedRange<Double>) -> ClosedRange<Double> {
        guard !isEmpty else { return outer }
        let relative = factors.map {
            Self.bounded($0.lowerBound * outer.lowerBound)...Self.bounded($0.upperBound * outer.upperBound)
        }
        return Self.union(sizes, relative) ?? outer
    }

    /// Products of such numbers are numbers.
    private static func bounded(_ number: Double) -> Double { min(max(number, 0), 1e100) }

    private static func union(_ a: ClosedRange<Double>?, _ b: ClosedRange<Double>?) -> ClosedRange<Double>? {
        guard let a, let b else { return a ?? b }
        return min(a.lowerBound, b.lowerBound)...max(a.upperBound, b.upperBound)
    }

    /// Takes a value of `font-size`, or of `font`, which says other things, too.
    mutating func take(_ text: String, isShorthand: Bool) {
        let words = text.prefix { $0 != "!" }.lowercased().split { $0.isWhitespace || $0 == "/" || $0 == "," }
        for word in words {
            let (number, unit) = SVGOutline.number(word)
            guard number >= 0, number.isFinite, !(isShorthand && unit.isEmpty) else { continue }
            let one = SVGFontSize(number, unit, word)
            merge(one)
            if isShorthand, !one.isEmpty { return }
        }
    }

    init() {}

    private init(_ number: Double, _ unit: String, _ word: Substring) {
        let number = Self.bounded(number)
        switch unit {
        case "", "px": sizes = number...number
        case "in", "cm", "mm", "pt", "pc": sizes = number...number * 96
        case "em", "rem", "%", "ex", "rex", "ch", "rch":
            let factor = number / (unit == "%" ? 100 : unit.hasSuffix("em") ? 1 : 2)
            factors = factor...factor
        default:
            if word.hasPrefix("xx-") || word.hasPrefix("x-") || ["small", "medium", "large"].contains(word) {
                sizes = 5...40
            } else if word == "smaller" || word == "larger" {
                factors = 0.8...1.3
            }
        }
    }
}
