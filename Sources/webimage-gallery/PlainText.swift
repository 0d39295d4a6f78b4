/// Words from outside, for labels: as long as people read, and without what controls how text is laid out.
enum PlainText {
    /// On one line.
    ///
    /// - Parameter most: how many characters are left at most; three dots stand for what was behind them.
    static func line(_ text: String, most: Int) -> String { clean(text, most) { _ in false } }

    /// On lines as it is.
    static func lines(_ text: String, most: Int) -> String { clean(text, most) { $0 == "\n" } }

    private static func clean(_ text: String, _ most: Int, keeping: (Unicode.Scalar) -> Bool) -> String {
        var result = String.UnicodeScalarView()
        // Marks upon marks are one character: what is counted are code points.
        for (index, scalar) in text.unicodeScalars.enumerated() {
            guard index < most else {
                result.append("…")
                break
            }
            result.append(keeping(scalar) || !isControl(scalar) ? scalar : " ")
        }
        return String(result)
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .surrogate: true
        // Marks of direction may make a name look like another one.
        case .format: scalar != "\u{200D}" && scalar != "\u{200C}"
        default: false
        }
    }
}
