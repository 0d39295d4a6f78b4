import WebImage

/// The modern formats that a client accepts, reduced to one bit each so that few variants exist.
struct AcceptedFormats: OptionSet, Sendable, Hashable {
    private(set) var rawValue: UInt8

    static let avif = AcceptedFormats(rawValue: 1)
    static let jpegXL = AcceptedFormats(rawValue: 2)
    static let webp = AcceptedFormats(rawValue: 4)

    /// The formats, the most economical first.
    var formats: [ImageFormat] {
        [(AcceptedFormats.avif, ImageFormat.avif), (.jpegXL, .jpegXL), (.webp, .webp)]
            .filter { contains($0.0) }.map(\.1)
    }

    /// Parses an `Accept` field (RFC 9110, 12.5.1).
    ///
    /// Only types that are named count: clients that send `image/*` or `*/*` do not know these formats. A type with quality 0 is not
    /// accepted. Of those accepted, only the ones with the highest quality count.
    init(accept: String?) {
        self = []
        guard let accept, accept.utf8.count <= 4096 else { return }
        var best = 0
        for member in accept.utf8.split(separator: UInt8(ascii: ",")) {
            let parts = member.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
            guard let format = parts.first.flatMap(Self.format) else { continue }
            let quality = Self.quality(of: parts.dropFirst())
            guard quality > 0, quality >= best else { continue }
            if quality > best { self = [] }
            best = quality
            insert(format)
        }
    }

    init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Creates a set of formats; others are left out.
    init(_ formats: Set<ImageFormat>) {
        self = []
        if formats.contains(.avif) { insert(.avif) }
        if formats.contains(.jpegXL) { insert(.jpegXL) }
        if formats.contains(.webp) { insert(.webp) }
    }

    private static func format(_ type: Substring.UTF8View) -> AcceptedFormats? {
        switch type.trimmedWord.lowercased() {
        case "image/avif": .avif
        case "image/jxl": .jpegXL
        case "image/webp": .webp
        default: nil
        }
    }

    /// Returns the quality in thousandths; 0 for a malformed one, 1000 without one.
    private static func quality(of parameters: ArraySlice<Substring.UTF8View>) -> Int {
        for parameter in parameters {
            let text = parameter.trimmedWord.lowercased()
            guard text.hasPrefix("q=") else { continue }
            let digits = text.dropFirst(2)
            guard digits.utf8.count <= 5, let value = Double(String(digits)), (0...1).contains(value),
                digits.utf8.allSatisfy({ $0 == UInt8(ascii: ".") || (48...57).contains($0) })
            else { return 0 }
            return Int((value * 1000).rounded())
        }
        return 1000
    }
}

extension Substring.UTF8View {
    /// The text without spaces and tabs at both ends.
    var trimmedWord: String {
        func isBlank(_ byte: UInt8) -> Bool { byte == 32 || byte == 9 }
        var bytes = self
        while let first = bytes.first, isBlank(first) { bytes.removeFirst() }
        while let last = bytes.last, isBlank(last) { bytes.removeLast() }
        return String(decoding: bytes, as: UTF8.self)
    }
}
