/// Sanitizes untrusted text for labels: limits its length and removes control characters.
enum PlainText {
    /// Returns the text on one line.
    ///
    /// - Parameter most: the maximum number of code points; longer text is cut and ends with an ellipsis.
    static func line(_ text: String, most: Int) -> String { clean(text, most) { _ in false } }

    /// Returns the text with its line breaks.
    static func lines(_ text: String, most: Int) -> String { clean(text, most) { $0 == "\n" } }

    private static func clean(_ text: String, _ most: Int, keeping: (Unicode.Scalar) -> Bool) -> String {
        if text.utf8.count <= most, text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) { return text }
        var result = String.UnicodeScalarView()
        // Counts code points: a character may consist of any number of combining marks.
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
        // Bidirectional controls can make a name look like another one.
        case .format: scalar != "\u{200D}" && scalar != "\u{200C}"
        default: false
        }
    }
}
