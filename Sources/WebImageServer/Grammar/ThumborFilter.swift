import WebImage

/// A filter of a thumbor URL: its name and its arguments.
struct ThumborFilter {
    let name: String
    let arguments: [String]

    /// Reads `NAME(ARGUMENTS` without the closing parenthesis. Arguments are divided by commas; one in single quotes may contain commas.
    init(_ text: ArraySlice<UInt8>) throws(ServerError) {
        guard let parenthesis = text.firstIndex(of: UInt8(ascii: "(")) else {
            throw .invalidURL("a filter without arguments")
        }
        name = String(decoding: text[..<parenthesis], as: UTF8.self)
        var arguments: [String] = []
        var rest = text[(parenthesis + 1)...]
        while true {
            rest = rest.drop { $0 == UInt8(ascii: " ") }
            var argument = rest.prefix { $0 != UInt8(ascii: ",") }
            if rest.first == UInt8(ascii: "'"), let quote = rest.dropFirst().firstIndex(of: UInt8(ascii: "'")) {
                argument = rest[(rest.startIndex + 1)..<quote]
                rest = rest[(quote + 1)...].drop { $0 != UInt8(ascii: ",") }
            } else {
                rest = rest[argument.endIndex...]
            }
            while argument.last == UInt8(ascii: " ") { argument = argument.dropLast() }
            arguments.append(String(decoding: argument, as: UTF8.self))
            guard !rest.isEmpty else { break }
            rest = rest.dropFirst()
        }
        self.arguments = arguments == [""] ? [] : arguments
    }

    /// The filters of thumbor that this server does not implement.
    static let unsupported: Set<String> = [
        "autojpg", "blur_areas", "colorize", "convolution", "cover", "curve", "equalize", "extract_focal", "frame",
        "gifv", "noise", "red_eye", "rgb", "round_corner",
    ]

    func invalid(_ expectation: String) -> ServerError { .invalidArgument(of: name, expectation) }

    func checkCount(_ range: ClosedRange<Int>) throws(ServerError) {
        guard range.contains(arguments.count) else { throw invalid("wrong number of arguments") }
    }

    /// Returns a whole number.
    func integer(_ index: Int, in range: ClosedRange<Int>) throws(ServerError) -> Int {
        guard let number = Int(arguments[index]), range.contains(number) else {
            throw invalid("expected a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// Returns a finite number.
    func number(_ index: Int, in range: ClosedRange<Double>) throws(ServerError) -> Double {
        guard let number = Double(arguments[index]), number.isFinite, range.contains(number) else {
            throw invalid("expected a number in \(range)")
        }
        return number
    }

    /// Returns whether an argument is true; false without it.
    func flag(_ index: Int) -> Bool {
        arguments.indices.contains(index) && ["true", "True", "1"].contains(arguments[index])
    }

    /// Returns a colour of 3 or 6 hexadecimal digits, or one of CSS's basic names.
    func color(_ index: Int) throws(ServerError) -> ImageColor {
        let text = arguments[index].lowercased()
        var digits = Self.colorNames[text] ?? text
        if digits.utf8.count == 3 { digits = String(digits.flatMap { [$0, $0] }) }
        guard digits.utf8.count == 6, let color = ImageColor(hex: digits) else { throw invalid("unknown colour") }
        return color
    }

    private static let colorNames = [
        "black": "000000", "silver": "c0c0c0", "gray": "808080", "grey": "808080", "white": "ffffff",
        "maroon": "800000", "red": "ff0000", "purple": "800080", "fuchsia": "ff00ff", "magenta": "ff00ff",
        "green": "008000", "lime": "00ff00", "olive": "808000", "yellow": "ffff00", "navy": "000080", "blue": "0000ff",
        "teal": "008080", "aqua": "00ffff", "cyan": "00ffff", "orange": "ffa500", "pink": "ffc0cb",
        "brown": "a52a2a", "lightblue": "add8e6",
    ]
}
