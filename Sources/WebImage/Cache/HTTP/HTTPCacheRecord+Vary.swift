extension HTTPCacheRecord {
    /// The most bytes of the request's fields that are kept because of `Vary`.
    static let selectingByteCount = 8 << 10

    /// Whether the response is for `request` too (RFC 9111, 4.1): the fields that `Vary` names are the same in it, but for white
    /// space and for how a list is split into fields. Never with a `*`.
    func isSelected(by request: HTTPCacheRequest) -> Bool {
        guard !facts.variesOnAll else { return false }
        return facts.vary.allSatisfy { name in
            if name == "cookie", request.handlesCookies { return false }
            return Self.isSame(Self.selectingValue(name, of: request.headers), selectingHeaders[name], name: name)
        }
    }

    /// The fields among those of a request that `names` lists; nil when they are too long to be kept.
    static func selectingHeaders(_ names: [String], of headers: HTTPHeaders) -> HTTPHeaders? {
        var result = HTTPHeaders()
        var byteCount = 0
        for name in Set(names).sorted() {
            guard let value = selectingValue(name, of: headers) else { continue }
            byteCount += name.utf8.count + value.utf8.count
            guard byteCount <= selectingByteCount, HTTPHeaders.isToken(name), HTTPHeaders.isLine(value) else {
                return nil
            }
            result.add(name: name, value: value)
        }
        return result
    }

    /// What is compared of a field of a request. What is secret is not to lie on disk.
    private static func selectingValue(_ name: String, of headers: HTTPHeaders) -> String? {
        guard let value = headers[name] else { return nil }
        switch name {
        case "authorization", "proxy-authorization", "cookie": return Hashing.md5Hex(value)
        default: return value
        }
    }

    private static func isSame(_ left: String?, _ right: String?, name: String) -> Bool {
        guard let left, let right else { return left == nil && right == nil }
        return left == right || normalized(left, name: name) == normalized(right, name: name)
    }

    private static func normalized(_ value: String, name: String) -> String {
        // Commas in quotes do not end members; such values have to be the same as they are.
        guard !value.utf8.contains(UInt8(ascii: "\"")) else { return HTTPHeaders.trimmed(value.utf8[...]) }
        let members = value.utf8.split(separator: UInt8(ascii: ",")).map(HTTPHeaders.trimmed)
        let list = members.filter { !$0.isEmpty }.joined(separator: ",")
        return name == "accept-language" ? list.lowercased() : list
    }
}
