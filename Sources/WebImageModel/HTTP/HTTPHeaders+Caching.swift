extension HTTPHeaders {
    /// Returns the value of the first field of that name; nil if there is none.
    package func firstValue(of name: String) -> String? { index(of: name, from: 0).map { fields[$0].value } }

    /// Returns the members of a list of names like `Vary` or `Connection`, over all its fields, in lower case and without empty
    /// ones.
    package func listedNames(of name: String) -> [String] {
        var names: [String] = []
        var index = index(of: name, from: 0)
        while let place = index {
            index = self.index(of: name, from: place + 1)
            for member in fields[place].value.utf8.split(separator: UInt8(ascii: ",")) {
                let text = Self.trimmed(member)
                if !text.isEmpty { names.append(text.lowercased()) }
            }
        }
        return names
    }

    /// The fields that a cache stores (RFC 9111, 3.1), names in lower case: without those that belong to the connection, set
    /// cookies, or cannot be written as a line. At most ``keptByteCount`` bytes; if there are more, only the fields about caching.
    package var kept: HTTPHeaders {
        let ofConnection = listedNames(of: "Connection").filter { !Self.essential.contains($0) }
        var result = HTTPHeaders()
        result.reserveCapacity(fields.count)
        var byteCount = 0
        for field in fields {
            let name = field.name.lowercased()
            guard Self.isKept(name), !ofConnection.contains(name), Self.isLine(field.value) else { continue }
            byteCount += name.utf8.count + field.value.utf8.count + 3
            guard byteCount <= Self.keptByteCount else { return essentials }
            result.add(name: name, value: field.value)
        }
        return result
    }

    /// The maximum number of bytes of stored fields, including names and separators.
    static let keptByteCount = 16 << 10
    /// The maximum number of bytes of a value if there are too many fields.
    static let keptValueByteCount = 4 << 10

    /// The fields about caching, in the order in which they are stored.
    private static let essential = [
        "cache-control", "vary", "expires", "date", "age", "etag", "last-modified", "content-type", "pragma",
    ]

    private var essentials: HTTPHeaders {
        var result = HTTPHeaders()
        var byteCount = 0
        for name in Self.essential {
            guard var value = self[name] else { continue }
            if !Self.isLine(value) || value.utf8.count > Self.keptValueByteCount
                || byteCount + name.utf8.count + value.utf8.count + 3 > Self.keptByteCount
            {
                guard let replacement = Self.replacement(of: name) else { continue }
                value = replacement
            }
            byteCount += name.utf8.count + value.utf8.count + 3
            result.add(name: name, value: value)
        }
        return result
    }

    /// Returns the most restrictive value, which replaces one that is not stored.
    private static func replacement(of name: String) -> String? {
        switch name {
        case "cache-control": "no-cache"
        case "vary": "*"
        case "expires": "0"
        default: nil
        }
    }

    private static func isKept(_ name: String) -> Bool {
        switch name {
        case "connection", "keep-alive", "proxy-authenticate", "proxy-authentication-info", "proxy-authorization",
            "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade", "http2-settings", "set-cookie",
            "set-cookie2":
            false
        default:
            // These prefixes are names of lines in a cache entry that are not header fields.
            !name.hasPrefix("x-http-") && !name.hasPrefix("x-received-") && isToken(name)
        }
    }

    /// Returns whether a value can be stored on one line.
    package static func isLine(_ value: String) -> Bool { value.utf8.allSatisfy { $0 != 0 && $0 != 10 && $0 != 13 } }

    /// Returns a text without leading and trailing white space.
    static func trimmed(_ bytes: Substring.UTF8View) -> String {
        var rest = bytes.drop { $0 == 32 || $0 == 9 }
        while let last = rest.last, last == 32 || last == 9 { rest.removeLast() }
        return String(decoding: rest, as: UTF8.self)
    }
}
