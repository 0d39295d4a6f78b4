/// A pattern of the beginning of URLs, in which `*` stands for any characters except `/`.
struct URLPattern: Sendable, Hashable {
    /// The texts between the wildcards; at least one.
    private let texts: [[UInt8]]

    init(_ pattern: String) { texts = URLBytes.parts(of: pattern.utf8, separator: UInt8(ascii: "*")).map(Array.init) }

    /// Returns whether a URL begins with the pattern.
    func matches(_ url: [UInt8]) -> Bool { match(in: url) != nil }

    /// Returns the end of the pattern in a URL that begins with it, and the ranges that its wildcards stand for: each as long as
    /// possible, the first before the second. Takes time proportional to the length of the URL times that of the pattern.
    func match(in url: [UInt8]) -> (end: Int, wildcards: [Range<Int>])? {
        guard url.starts(with: texts[0]) else { return nil }
        let places = placesOfTexts(in: url)
        var end = texts[0].count
        var wildcards: [Range<Int>] = []
        for index in texts.indices.dropFirst() {
            guard let place = places[index - 1][end] else { return nil }
            wildcards.append(end..<place)
            end = place + texts[index].count
        }
        return (end, wildcards)
    }

    /// For each text but the first, and each position in the URL: the last place of the text that a wildcard from there reaches and from
    /// which the rest of the pattern matches.
    private func placesOfTexts(in url: [UInt8]) -> [[Int?]] {
        var result: [[Int?]] = []
        for text in texts.dropFirst().reversed() {
            let following = result.last
            var places = [Int?](repeating: nil, count: url.count + 1)
            var place: Int?
            for start in stride(from: url.count, through: 0, by: -1) {
                if start < url.count, url[start] == UInt8(ascii: "/") { place = nil }
                if place == nil, url[start...].starts(with: text),
                    following.map({ $0[start + text.count] != nil }) ?? true
                {
                    place = start
                }
                places[start] = place
            }
            result.append(places)
        }
        return result.reversed()
    }
}

/// Replaces the beginning of URLs that match a pattern.
package struct URLReplacement: Sendable, Hashable {
    private enum Piece: Sendable, Hashable {
        case text([UInt8])
        case wildcard(Int)
    }

    private let pattern: URLPattern
    private let pieces: [Piece]

    /// Creates a replacement.
    ///
    /// - Parameters:
    ///   - pattern: the beginning of URLs; `*` stands for any characters except `/`.
    ///   - replacement: the text instead; `${1}` stands for the characters of the first `*`, and so on.
    package init(pattern: String, replacement: String) {
        self.pattern = URLPattern(pattern)
        var pieces: [Piece] = []
        var rest = Array(replacement.utf8)[...]
        while let start = URLBytes.firstIndex(of: Array("${".utf8), in: rest),
            let end = rest[start...].firstIndex(of: UInt8(ascii: "}"))
        {
            let name = String(decoding: rest[(start + 2)..<end], as: UTF8.self)
            pieces.append(.text(Array(rest[..<start])))
            // As in imgproxy, an unknown wildcard is empty.
            if let number = Int(name), number > 0 { pieces.append(.wildcard(number - 1)) }
            rest = rest[(end + 1)...]
        }
        pieces.append(.text(Array(rest)))
        self.pieces = pieces
    }

    /// Returns the URL with its beginning replaced if it matches the pattern, else the same.
    func applied(to url: [UInt8]) -> [UInt8] {
        guard let match = pattern.match(in: url) else { return url }
        var result: [UInt8] = []
        for piece in pieces {
            switch piece {
            case .text(let text): result += text
            case .wildcard(let index):
                if match.wildcards.indices.contains(index) { result += url[match.wildcards[index]] }
            }
        }
        return result + url[match.end...]
    }
}
