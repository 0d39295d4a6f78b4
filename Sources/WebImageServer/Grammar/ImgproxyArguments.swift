import WebImage

/// An option as written in a path: its name and its arguments, of which there is at least one.
struct ImgproxyArguments: Sendable, Hashable {
    /// The name as written, long or short.
    let name: String
    /// The arguments, some of which may be empty.
    let values: [String]

    /// Creates an option.
    init(name: String, values: [String]) {
        self.name = name
        self.values = values
    }

    /// The arguments from the second on, as another option's; nil without any.
    func dropFirst(_ count: Int = 1) -> ImgproxyArguments? {
        values.count > count ? ImgproxyArguments(name: name, values: Array(values.dropFirst(count))) : nil
    }

    /// Returns an argument; nil if it is missing or empty.
    func value(_ index: Int) -> String? {
        values.indices.contains(index) && !values[index].isEmpty ? values[index] : nil
    }

    /// The error about an argument.
    func invalid(_ expectation: String) -> ServerError { .invalidArgument(of: name, expectation) }

    /// Throws if there are more arguments than an option has.
    func checkCount(_ maximum: Int) throws(ServerError) {
        guard values.count <= maximum else { throw invalid("more than \(maximum) arguments") }
    }

    /// Returns the only argument.
    func single() throws(ServerError) -> String {
        try checkCount(1)
        return values[0]
    }

    /// Returns the only argument as a boolean: `1`, `t` or `true`, and everything else is false.
    func flag() throws(ServerError) -> Bool { Self.flag(try single()) }

    /// Returns whether a text is `1`, `t`, `T`, `true`, `True` or `TRUE`.
    static func flag(_ text: String) -> Bool { ["1", "t", "T", "true", "True", "TRUE"].contains(text) }

    /// Returns a whole number.
    func integer(_ text: String, in range: ClosedRange<Int>) throws(ServerError) -> Int {
        guard let number = Int(text), range.contains(number) else {
            throw invalid("expected a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// Returns a number of pixels, 0 or greater.
    func pixels(_ text: String) throws(ServerError) -> Int { try integer(text, in: 0...Int(Int32.max)) }

    /// Returns a finite number.
    func number(_ text: String) throws(ServerError) -> Double {
        guard let number = Double(text), number.isFinite else { throw invalid("expected a number") }
        return number
    }

    /// Returns a finite number in a range.
    func number(_ text: String, in range: ClosedRange<Double>) throws(ServerError) -> Double {
        let number = try number(text)
        guard range.contains(number) else { throw invalid("expected a number in \(range)") }
        return number
    }

    /// Returns a finite number that is 0 or greater.
    func positive(_ text: String) throws(ServerError) -> Double {
        try number(text, in: 0...Double.greatestFiniteMagnitude)
    }

    /// Returns a finite number that is greater than 0.
    func factor(_ text: String) throws(ServerError) -> Double {
        try number(text, in: Double.leastNonzeroMagnitude...Double.greatestFiniteMagnitude)
    }

    /// Returns a number of millions as units.
    func millions(_ text: String) throws(ServerError) -> Int {
        Int(try number(text, in: 0...1_000_000) * 1_000_000)
    }

    /// Returns a colour of 3 or 6 hexadecimal digits.
    func color(_ text: String) throws(ServerError) -> ImageColor {
        var digits = text
        if text.utf8.count == 3 { digits = String(text.flatMap { [$0, $0] }) }
        guard digits.utf8.count == 6, let color = ImageColor(hex: digits) else {
            throw invalid("expected 3 or 6 hexadecimal digits")
        }
        return color
    }

    /// Returns a format by its name.
    func format(_ text: String) throws(ServerError) -> ImageFormat {
        if let format = ImgproxyOption.formats[text] { return format }
        throw ImgproxyOption.formatsOfPro.contains(text)
            ? .unsupportedOption("format." + text) : invalid("unknown format")
    }

    /// Changes a gravity: its kind, and the offsets that are written.
    ///
    /// - Parameter allowsSmart: false for extensions, which have no smart gravity.
    func change(_ gravity: inout VariantGravity, allowsSmart: Bool = true) throws(ServerError) {
        // Pro: objects.
        if ["obj", "objw"].contains(values[0]) { throw .unsupportedOption("gravity." + values[0]) }
        guard let kind = VariantGravity.Kind(rawValue: values[0]), allowsSmart || kind != .smart else {
            throw invalid("unknown gravity")
        }
        gravity.kind = kind
        if kind == .smart {
            try checkCount(1)
            (gravity.xOffset, gravity.yOffset) = (0, 0)
            return
        }
        guard values.count <= 3, kind != .focusPoint || values.count == 3 else {
            throw invalid("wrong number of offsets")
        }
        let limit = Double.greatestFiniteMagnitude
        let range = kind == .focusPoint ? 0...1 : -limit...limit
        if let x = value(1) { gravity.xOffset = try number(x, in: range) }
        if let y = value(2) { gravity.yOffset = try number(y, in: range) }
    }
}
