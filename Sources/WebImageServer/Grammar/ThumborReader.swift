import WebImage

/// Reads thumbor's options from the beginning of a path, in their order.
struct ThumborReader {
    /// The unread rest; at the end, the source.
    private(set) var rest: ArraySlice<UInt8>
    /// The index at which the filters begin, or would begin.
    private(set) var filtersStart = 0
    /// The options so far.
    private(set) var options: VariantOptions

    init(_ path: ArraySlice<UInt8>, options: VariantOptions) {
        rest = path
        self.options = options
    }

    /// Reads all options.
    mutating func readOptions() throws(ServerError) {
        for name in ["debug", "meta"] where next() == name { throw .unsupportedOption(name) }
        var trim: String?
        if let text = next(), Self.isTrim(text) {
            trim = text
            drop()
        }
        if let trim { options.trim = try Self.trim(trim) }
        let region = next().flatMap(Self.region)
        if region != nil { drop() }
        // Without fit-in, the image covers the size, and is enlarged for it.
        (options.resizingType, options.enlarge) = (.fill, true)
        if let text = next(), text.hasSuffix("fit-in") { readFitIn(text) }
        if let text = next(), readSize(text) { drop() }
        readGravity()
        if let region { setCrop(region) }
        filtersStart = rest.startIndex
        try readFilters()
    }

    /// The next component, if something follows it.
    private func next() -> String? {
        guard let slash = rest.firstIndex(of: UInt8(ascii: "/")), slash + 1 < rest.endIndex,
            slash - rest.startIndex < 64
        else { return nil }
        return String(decoding: rest[..<slash], as: UTF8.self)
    }

    private mutating func drop() {
        rest = rest.drop { $0 != UInt8(ascii: "/") }.dropFirst()
    }

    private static func isTrim(_ text: String) -> Bool {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts[0] == "trim" else { return false }
        var arguments = parts.dropFirst()
        if let first = arguments.first, ["top-left", "bottom-right"].contains(first) {
            arguments = arguments.dropFirst()
        }
        return arguments.isEmpty || (arguments.count == 1 && isNumber(arguments[arguments.startIndex]))
    }

    private static func trim(_ text: String) throws(ServerError) -> VariantTrim {
        var trim = VariantTrim()
        let parts = text.split(separator: ":")
        if parts.contains("bottom-right") { trim.color = .bottomRight }
        (trim.threshold, trim.usesDistance) = (0, true)
        if let last = parts.last, isNumber(last) {
            guard let tolerance = Int32(last) else { throw .invalidArgument(of: "trim", "the tolerance is too large") }
            trim.threshold = Double(tolerance)
        }
        return trim
    }

    private static func isNumber(_ text: some StringProtocol) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }

    /// `LEFTxTOP:RIGHTxBOTTOM`
    static func region(_ text: String) -> VariantRegion? {
        let numbers = text.split(separator: ":", omittingEmptySubsequences: false)
            .map { $0.split(separator: "x", omittingEmptySubsequences: false) }
        guard numbers.count == 2, numbers.allSatisfy({ $0.count == 2 && $0.allSatisfy(isNumber) }) else { return nil }
        // Greater numbers are beyond every image.
        let values = numbers.joined().map { Int(Int32($0) ?? .max) }
        return VariantRegion(left: values[0], top: values[1], right: values[2], bottom: values[3])
    }

    private mutating func readFitIn(_ text: String) {
        guard ["fit-in", "full-fit-in", "adaptive-fit-in", "adaptive-full-fit-in"].contains(text) else { return }
        options.isAdaptive = text.hasPrefix("adaptive-")
        options.resizingType = text.hasSuffix("full-fit-in") ? .cover : .fit
        options.enlarge = options.resizingType == .cover
        drop()
    }

    /// `WIDTHxHEIGHT`, each with a minus sign if mirrored, and each a number, `orig` or nothing.
    private mutating func readSize(_ text: String) -> Bool {
        let sides = text.split(separator: "x", omittingEmptySubsequences: false)
        guard sides.count == 2 else { return false }
        var lengths: [VariantLength] = []
        for side in sides {
            let number = side.hasPrefix("-") ? side.dropFirst() : side
            switch number {
            case "": lengths.append(.automatic)
            case "orig": lengths.append(.original)
            default:
                guard Self.isNumber(number) else { return false }
                let pixels = Int(Int32(number) ?? .max)
                lengths.append(pixels > 0 ? .pixels(pixels) : .automatic)
            }
        }
        (options.width, options.height) = (lengths[0], lengths[1])
        options.flipHorizontal = sides[0].hasPrefix("-")
        options.flipVertical = sides[1].hasPrefix("-")
        return true
    }

    private mutating func readGravity() {
        var x = 0
        var y = 0
        if let text = next(), let index = ["left", "center", "right"].firstIndex(of: text) {
            x = index - 1
            drop()
        }
        if let text = next(), let index = ["top", "middle", "bottom"].firstIndex(of: text) {
            y = index - 1
            drop()
        }
        if next() == "smart" {
            options.gravity = VariantGravity(.smart)
            drop()
        } else {
            options.gravity = VariantGravity(gravityKind(x: x, y: y))
        }
    }

    private mutating func setCrop(_ region: VariantRegion) {
        guard region.left < region.right, region.top < region.bottom else { return }
        options.crop.width = Double(region.right - region.left)
        options.crop.height = Double(region.bottom - region.top)
        options.crop.gravity = VariantGravity(
            gravityKind(x: -1, y: -1),
            xOffset: Double(region.left),
            yOffset: Double(region.top)
        )
    }

    /// Returns the gravity at an edge of the image before it is mirrored: -1 for left or top, 0 for the centre, 1 for right or bottom.
    ///
    /// thumbor mirrors the finished image, gravities of ``VariantOptions`` are those of the mirrored one.
    private func gravityKind(x: Int, y: Int) -> VariantGravity.Kind {
        let kinds: [[VariantGravity.Kind]] = [
            [.northWest, .north, .northEast], [.west, .center, .east], [.southWest, .south, .southEast],
        ]
        return kinds[(options.flipVertical ? -y : y) + 1][(options.flipHorizontal ? -x : x) + 1]
    }

    /// `filters:NAME(ARGUMENTS):NAME(ARGUMENTS)/`; arguments may contain slashes.
    private mutating func readFilters() throws(ServerError) {
        let prefix = Array("filters:".utf8)
        guard rest.starts(with: prefix) else { return }
        let text = rest.dropFirst(prefix.count)
        guard let end = URLBytes.firstIndex(of: Array(")/".utf8), in: text.dropFirst()), end + 2 < rest.endIndex
        else { return }
        guard let decoded = URLBytes.percentDecoded(text[...end]) else {
            throw .invalidURL("invalid percent-encoding of filters")
        }
        rest = rest[(end + 2)...]
        for filter in URLBytes.parts(of: decoded.dropLast(), separator: Array("):".utf8)) {
            try options.apply(ThumborFilter(filter))
        }
    }
}
