import WebImage

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

    /// How long a piece of a dashed line is on average, in units of the document; nil without one.
    private(set) var dash: Double?
    /// How long the outline is that the sides and radii make.
    private(set) var outline = 0.0
    /// The same of those that are parts of the canvas, in sides of it.
    private(set) var share = 0.0

    var isEmpty: Bool { references.isEmpty && time == 0 && dash == nil && outline == 0 && share == 0 }

    /// The properties that are looked at.
    static let properties: Set<String> = [
        "filter", "mask", "clip-path", "fill", "stroke", "marker", "marker-start", "marker-mid", "marker-end",
        "opacity",
        "mix-blend-mode", "isolation", "stroke-dasharray", "width", "height", "r", "rx", "ry",
    ]

    // Measured with librsvg 2.54.
    private static let timeOfGroup = 3.0
    private static let timeOfMask = 8.0
    private static let timeOfFilter = 20.0
    private static let timeOfFilterFunction = 800.0

    mutating func merge(_ other: SVGStyle) {
        references.formUnion(other.references)
        time += other.time
        outline += other.outline
        share += other.share
        dash = [dash, other.dash].compactMap(\.self).min()
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
            dash = [dash, SVGOutline.dash(value)].compactMap(\.self).min()
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
            try set(name, Array(declaration[declaration.index(after: colon)...]))
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
