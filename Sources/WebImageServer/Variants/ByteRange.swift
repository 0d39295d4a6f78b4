import WebImage

/// The `Range` field of a request for a body of a known size (RFC 9110, 14). Only one range is served; several are ignored, which is
/// allowed.
enum ByteRange: Sendable, Hashable {
    /// The whole body: no range is asked for, or none that is understood.
    case whole
    case part(Range<Int>)
    /// No byte of the body is requested: status 416.
    case unsatisfiable

    init(_ field: String?, of count: Int) {
        self = .whole
        guard let field, field.lowercased().hasPrefix("bytes=") else { return }
        let text = field.dropFirst(6)
        guard !text.contains(",") else { return }
        let sides = text.split(separator: "-", omittingEmptySubsequences: false).map { $0.utf8.trimmedWord }
        guard sides.count == 2, let first = Self.number(sides[0]), let last = Self.number(sides[1]) else { return }
        switch (first, last) {
        case (nil, nil): return
        case (nil, let suffix?):
            self = suffix == 0 || count == 0 ? .unsatisfiable : .part(max(count - suffix, 0)..<count)
        case (let start?, let end):
            if let end, end < start { return }
            self = start >= count ? .unsatisfiable : .part(start..<min((end ?? count - 1), count - 1) + 1)
        }
    }

    /// Returns nil for an invalid number, and `.some(nil)` for none.
    private static func number(_ text: String) -> Int?? {
        if text.isEmpty { return .some(nil) }
        guard text.utf8.count <= 15, text.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
        return Int(text)
    }
}
