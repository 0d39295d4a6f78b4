import WebImageCodecs

/// How long a piece of a dashed line is on average: the sum of its parts.
struct SVGDash: Equatable {
    /// In units of the document.
    var length = 0.0
    /// In sizes of a font.
    var fonts = 0.0
    /// In sides of a viewport.
    var share = 0.0

    /// One that is not longer than either.
    func shorter(_ other: SVGDash) -> SVGDash {
        SVGDash(length: min(length, other.length), fonts: min(fonts, other.fonts), share: min(share, other.share))
    }

    /// In units of the document, where fonts and viewports are no smaller than these.
    func length(font: Double, side: Double) -> Double {
        length + (fonts > 0 ? fonts * font : 0) + (share > 0 ? share * side : 0)
    }
}

/// How long the outlines of shapes are, from above, in units of the document: dashes are cut out of all of it, seen or not.
enum SVGOutline {
    /// The number of a length, whatever its unit is; 0 for words.
    ///
    /// - Returns: the number, and whether it counts units of the document or what is not smaller than those.
    static func number(_ value: some StringProtocol) -> (number: Double, unit: String) {
        let text = value.prefix { $0 != "!" }.lowercased().filter { !$0.isWhitespace }
        let unit = String(text.reversed().prefix { $0.isLetter || $0 == "%" }.reversed())
        let digits = text.dropLast(unit.count)
        return (digits.isEmpty ? 0 : Double(digits) ?? .infinity, unit)
    }

    /// A width or height as one that a viewport may have, or less than that; nil for what is none.
    static func side(_ value: [UInt8]) -> Double? {
        let (number, _) = number(String(decoding: value, as: UTF8.self))
        guard number > 0, number.isFinite else { return nil }
        // Of a viewport that is no smaller than 100.
        return number
    }

    /// A length in units of the document, or more than that.
    static func length(_ value: String) -> Double {
        let (number, unit) = number(value)
        switch unit {
        case "", "px": return abs(number)
        case "in", "cm", "mm", "pt", "pc": return abs(number) * 96
        // Of fonts, whose sizes nobody knows here.
        default: return abs(number) * 10_000
        }
    }

    /// What a dashed line is made of; nil for one that is not dashed.
    static func dash(_ value: [UInt8]) -> SVGDash? {
        let text = String(decoding: value, as: UTF8.self).prefix { $0 != "!" }
        let entries = text.split { $0 == "," || $0.isWhitespace }.map { number($0) }
        guard !entries.contains(where: { $0.number < 0 }), entries.contains(where: { $0.number > 0 }) else {
            return nil
        }
        var dash = SVGDash()
        for entry in entries where entry.number.isFinite {
            switch entry.unit {
            // None of these units is smaller than a pixel.
            case "", "px", "in", "cm", "mm", "pt", "pc", "q":
                dash.length += entry.number * (entry.unit == "q" ? 0.9 : 1)
            case "em", "rem": dash.fonts += entry.number
            case "ex", "rex", "ch", "rch": dash.fonts += entry.number / 2
            case "%", "vw", "vh", "vmin", "vmax": dash.share += entry.number / 100
            // What is not understood counts as nothing, which takes for ever.
            default: break
            }
        }
        let count = Double(entries.count)
        (dash.length, dash.fonts, dash.share) = (dash.length / count, dash.fonts / count, dash.share / count)
        return dash
    }

    /// Of a path.
    static func path(_ data: [UInt8]) -> Double {
        var pen = Pen(data, command: 0)
        return pen.run()
    }

    /// Of a line through points, closed or not.
    static func points(_ data: [UInt8]) -> Double {
        var pen = Pen(data, command: UInt8(ascii: "L"))
        return 2 * pen.run()
    }
}

/// Goes along a path.
private struct Pen {
    typealias Point = (x: Double, y: Double)

    private let data: [UInt8]
    private var offset = 0
    private var command: UInt8
    private var length = 0.0
    private var place: Point = (0, 0)
    private var start: Point?
    /// How far the last point lies from what curves are mirrored at.
    private var arm = 0.0

    init(_ data: [UInt8], command: UInt8) {
        self.data = data
        self.command = command
    }

    mutating func run() -> Double {
        var numbers: [Double] = []
        while offset < data.count {
            let byte = data[offset]
            if (0x41...0x5A).contains(byte & 0xDF), byte & 0xDF != UInt8(ascii: "E") {
                offset += 1
                command = byte
                numbers = []
                if byte & 0xDF == UInt8(ascii: "Z"), let start { go(to: start) }
                continue
            }
            guard let number = number(isFlag: kind == UInt8(ascii: "A") && (3...4).contains(numbers.count)) else {
                offset += 1
                continue
            }
            numbers.append(number)
            guard numbers.count == count else { continue }
            draw(numbers)
            numbers = []
        }
        return length
    }

    private var kind: UInt8 { command & 0xDF }

    /// How many numbers the command takes.
    private var count: Int {
        switch kind {
        case UInt8(ascii: "H"), UInt8(ascii: "V"): 1
        case UInt8(ascii: "C"): 6
        case UInt8(ascii: "S"), UInt8(ascii: "Q"): 4
        case UInt8(ascii: "A"): 7
        default: 2
        }
    }

    private mutating func number(isFlag: Bool) -> Double? {
        let start = offset
        func isDigit() -> Bool { offset < data.count && (0x30...0x39).contains(data[offset]) }
        func skip(_ choices: StaticString) {
            choices.withUTF8Buffer { if offset < data.count, $0.contains(data[offset]) { offset += 1 } }
        }
        if isFlag, isDigit() {
            offset += 1
            return 1
        }
        skip("+-")
        while isDigit() { offset += 1 }
        skip(".")
        while isDigit() { offset += 1 }
        let mantissa = offset
        skip("eE")
        skip("+-")
        let exponent = offset
        while isDigit() { offset += 1 }
        if exponent == offset { offset = mantissa }
        guard let number = Double(String(decoding: data[start..<offset], as: UTF8.self)) else {
            offset = start
            return nil
        }
        return number
    }

    private static func distance(_ a: Point, _ b: Point) -> Double { abs(a.x - b.x) + abs(a.y - b.y) }

    private mutating func go(to point: Point) {
        length += Self.distance(place, point)
        (place, arm) = (point, 0)
    }

    private mutating func draw(_ numbers: [Double]) {
        let base: Point = command & 0x20 != 0 ? place : (0, 0)
        func point(_ index: Int) -> Point { (base.x + numbers[index], base.y + numbers[index + 1]) }
        switch kind {
        case UInt8(ascii: "M"):
            (place, start, arm) = (point(0), point(0), 0)
            command = command & 0x20 | UInt8(ascii: "L")
        case UInt8(ascii: "H"): go(to: (base.x + numbers[0], place.y))
        case UInt8(ascii: "V"): go(to: (place.x, base.y + numbers[0]))
        case UInt8(ascii: "A"):
            arc(max(abs(numbers[0]), abs(numbers[1])), min(abs(numbers[0]), abs(numbers[1])), point(5))
        case UInt8(ascii: "T"):
            let reach = arm + Self.distance(place, point(0))
            length += arm + reach
            (place, arm) = (point(0), reach)
        case UInt8(ascii: "S"): curve([point(0), point(2)], mirrored: true)
        case UInt8(ascii: "C"): curve([point(0), point(2), point(4)], mirrored: false)
        case UInt8(ascii: "Q"): curve([point(0), point(2)], mirrored: false)
        default: go(to: point(0))
        }
        if start == nil { start = place }
    }

    /// Not longer than the way from point to point, after one that is mirrored.
    private mutating func curve(_ points: [Point], mirrored: Bool) {
        if mirrored { length += 2 * arm }
        for point in points {
            arm = Self.distance(place, point)
            length += arm
            place = point
        }
    }

    /// An ellipse that is too small is made as big as is needed.
    private mutating func arc(_ big: Double, _ small: Double, _ end: Point) {
        let distance = Self.distance(place, end)
        guard small > 0 else { return go(to: end) }
        length += 2 * .pi * big * max(1, distance / small / 2)
        (place, arm) = (end, 0)
    }
}
