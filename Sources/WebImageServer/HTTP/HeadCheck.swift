import WebImage

/// Decides whether the head of a request is accepted, whatever the library that parsed it lets through.
///
/// A server that only delivers needs no bodies, so no request may have one: then two parsers, that of a proxy and that of this server,
/// cannot disagree where one request ends and the next begins (request smuggling). A pure function, which is fuzzed.
struct HeadCheck: Sendable {
    /// The maximum number of bytes of a target.
    var maximumTargetByteCount = 8 << 10
    /// The maximum number of fields.
    var maximumFieldCount = 100
    /// The maximum number of bytes of all names and values.
    var maximumFieldByteCount = 16 << 10

    /// A request that is refused. The connection ends after the answer.
    struct Refusal: Error, Sendable, Hashable {
        var status: Int
        var reason: String
    }

    /// Returns the method and the target in origin form.
    ///
    /// - Parameters:
    ///   - fieldCount: The number of fields that were received, which may be more than `headers` has.
    /// - Throws: A refusal with status 400, 405, 414, 417, 431 or 505.
    func check(
        method: String,
        target: String,
        version: String,
        headers: HTTPHeaders,
        fieldCount: Int
    ) throws(Refusal) -> (method: HTTPRequest.Method, target: String) {
        guard version == "HTTP/1.1" || version == "HTTP/1.0" else {
            throw Refusal(status: 505, reason: "unknown version")
        }
        try checkSize(target, headers, fieldCount)
        try checkFields(headers, isOld: version == "HTTP/1.0")
        guard let method = HTTPRequest.Method(rawValue: method) else {
            throw Refusal(status: 405, reason: "method not allowed")
        }
        guard let path = Self.originForm(of: target, method) else {
            throw Refusal(status: 400, reason: "invalid target")
        }
        return (method, path)
    }

    private func checkSize(_ target: String, _ headers: HTTPHeaders, _ fieldCount: Int) throws(Refusal) {
        guard target.utf8.count <= maximumTargetByteCount else {
            throw Refusal(status: 414, reason: "the target is too long")
        }
        let byteCount = headers.fields.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count }
        guard fieldCount <= maximumFieldCount, byteCount <= maximumFieldByteCount else {
            throw Refusal(status: 431, reason: "too many fields")
        }
    }

    private func checkFields(_ headers: HTTPHeaders, isOld: Bool) throws(Refusal) {
        var (hosts, lengths) = (0, 0)
        for field in headers.fields {
            guard HTTPHeaders.isToken(field.name) else { throw Refusal(status: 400, reason: "invalid field name") }
            guard field.value.utf8.allSatisfy(Self.isFieldByte) else {
                throw Refusal(status: 400, reason: "invalid field value")
            }
            guard !Self.isFoldedLength(field.name) else {
                throw Refusal(status: 400, reason: "requests must not have a body")
            }
            switch field.name.utf8.count {
            case 4 where HTTPHeaders.equal(field.name, "Host"):
                hosts += 1
                guard Self.isHost(field.value) else { throw Refusal(status: 400, reason: "invalid Host") }
            case 6 where HTTPHeaders.equal(field.name, "Expect"):
                throw Refusal(status: 417, reason: "Expect is not supported")
            case 14 where HTTPHeaders.equal(field.name, "Content-Length"):
                lengths += 1
                guard field.value == "0", lengths == 1 else {
                    throw Refusal(status: 400, reason: "requests must not have a body")
                }
            case 17 where HTTPHeaders.equal(field.name, "Transfer-Encoding"):
                throw Refusal(status: 400, reason: "requests must not have a body")
            default: break
            }
        }
        guard hosts == 1 || hosts == 0 && isOld else { throw Refusal(status: 400, reason: "one Host is required") }
    }

    /// Returns whether a name is that of a field that announces a body, followed by its value: libmicrohttpd 0.9 appends folded lines to the
    /// name, and does not see the field itself. Its value is then the end of the name, or empty.
    private static func isFoldedLength(_ name: String) -> Bool {
        let announcing = ["content-length", "transfer-encoding"]
        guard name.utf8.count > 14, let first = name.utf8.first, "cCtT".utf8.contains(first) else { return false }
        let name = name.lowercased()
        return announcing.contains { name.hasPrefix($0) && name.utf8.count > $0.utf8.count }
    }

    /// A visible byte, a space, a tab, or one of other character sets.
    private static func isFieldByte(_ byte: UInt8) -> Bool { byte >= 32 && byte != 127 || byte == 9 }

    /// Returns whether a text can be a host with a port; may be empty (RFC 9112, 3.2).
    private static func isHost(_ text: String) -> Bool {
        text.utf8.allSatisfy { byte in
            byte > 32 && byte < 127 && !"/\\@?#\"<>^`{|},".utf8.contains(byte)
        }
    }

    /// Returns the path and the query of a target; nil if it is malformed.
    private static func originForm(of target: String, _ method: HTTPRequest.Method) -> String? {
        guard target.utf8.allSatisfy({ $0 > 32 && $0 < 127 && $0 != UInt8(ascii: "#") }) else { return nil }
        if target == "*" { return method == .options ? target : nil }
        guard !target.hasPrefix("/") else { return target }
        // The absolute form, which is for proxies, must be accepted, too (RFC 9112, 3.2.2).
        for scheme in ["http://", "https://"] where target.lowercased().hasPrefix(scheme) {
            let rest = target.dropFirst(scheme.count)
            let authority = rest.prefix { $0 != "/" && $0 != "?" }
            guard !authority.isEmpty, isHost(String(authority)) else { return nil }
            let path = rest.dropFirst(authority.count)
            return path.hasPrefix("/") ? String(path) : "/" + path
        }
        return nil
    }
}
