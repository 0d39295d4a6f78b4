/// The parts of an imgproxy URL's path: the signature, and what it signs.
struct ImgproxyPath: Equatable {
    /// The first component.
    let signature: [UInt8]
    /// The rest without its leading slash, with the changes undone that proxies make to it. The signature is that of this text.
    let signed: [UInt8]

    /// Divides a path.
    ///
    /// - Parameters:
    ///   - target: the target of the request, percent-encoded; a query is removed.
    ///   - prefix: the first components of the path that belong to the server, such as `/images`.
    /// - Throws: an error with status 400 if the signature or the rest is missing, 404 if the prefix is missing.
    init(_ target: String, prefix: String) throws(ServerError) {
        var rest = Array(target.utf8)[...]
        rest = rest.prefix { $0 != UInt8(ascii: "?") }
        if !prefix.isEmpty {
            guard rest.starts(with: prefix.utf8), rest.dropFirst(prefix.utf8.count).first == UInt8(ascii: "/") else {
                throw .notFound
            }
            rest = rest.dropFirst(prefix.utf8.count)
        }
        if rest.first == UInt8(ascii: "/") { rest = rest.dropFirst() }
        guard let slash = rest.firstIndex(of: UInt8(ascii: "/")), slash > rest.startIndex else {
            throw .invalidURL("no signature, or nothing follows it")
        }
        signature = Array(rest[..<slash])
        signed = Self.repaired(rest[(slash + 1)...])
        guard !signed.isEmpty else { throw .invalidURL("nothing follows the signature") }
    }

    /// Undoes what browsers, proxies and CDNs do to paths: `%3A` in options becomes `:` again, and `https:/` at the beginning of a plain
    /// source `https://`. A leading slash is removed.
    static func repaired(_ path: ArraySlice<UInt8>) -> [UInt8] {
        let plain = Array("plain/".utf8)
        var options = path
        var source: ArraySlice<UInt8>?
        if path.starts(with: plain) {
            options = path.prefix(0)
            source = path.dropFirst(plain.count)
        } else if let start = URLBytes.firstIndex(of: Array("/plain/".utf8), in: path) {
            options = path[..<start]
            source = path[(start + plain.count + 1)...]
        }
        var result = URLBytes.replacing(Array("%3A".utf8), with: UInt8(ascii: ":"), in: options)
        if let source {
            result += [UInt8(ascii: "/")] + plain + repairedSource(source)
        }
        return Array(result.first == UInt8(ascii: "/") ? result.dropFirst() : result[...])
    }

    /// Returns a source with both slashes behind its scheme.
    static func repairedSource(_ source: ArraySlice<UInt8>) -> [UInt8] {
        guard let colon = source.firstIndex(of: UInt8(ascii: ":")), colon > source.startIndex,
            source[..<colon].allSatisfy(isInScheme)
        else { return Array(source) }
        let rest = source[(colon + 1)...]
        guard rest.first == UInt8(ascii: "/"), let next = rest.dropFirst().first, next != UInt8(ascii: "/") else {
            return Array(source)
        }
        // URLs of local files have no host.
        let slashes = source[..<colon].elementsEqual("local".utf8) ? "//" : "/"
        return Array(source[...colon]) + Array(slashes.utf8) + Array(rest)
    }

    private static func isInScheme(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."):
            true
        default: false
        }
    }
}
