extension HTTPCacheRecord {
    /// The maximum number of bytes of a record's lines that are parsed. ``ResponseLines/longestRecord``, half of it, limits what is
    /// written.
    package static let encodedByteCount = 64 << 10

    /// The names of lines that are not header fields of the response. ``HTTPHeaders/kept`` contains no such names.
    private enum Name {
        static let prefix = "x-http-"
        static let receivedPrefix = "x-received-"
        static let status = "x-http-status"
        static let requestTime = "x-http-request-time"
        static let responseTime = "x-http-response-time"
        static let redirectLifetime = "x-http-redirect-lifetime"
        static let selecting = "x-http-selecting"
    }

    /// Appends the record as lines `name: value` with names in lower case, each terminated by a line feed. Selecting fields keep
    /// their case.
    func appendLines(to output: inout [UInt8]) {
        func append(_ name: String, _ value: String) {
            output.append(contentsOf: name.utf8)
            output.append(contentsOf: ": ".utf8)
            output.append(contentsOf: value.utf8)
            output.append(0x0A)
        }
        append(Name.status, "\(statusCode)")
        append(Name.requestTime, "\(requestTime)")
        append(Name.responseTime, "\(responseTime)")
        if let redirectLifetime { append(Name.redirectLifetime, "\(redirectLifetime)") }
        for field in selectingHeaders.fields where Self.isEncodable(field) {
            output.append(contentsOf: Name.selecting.utf8)
            output.append(contentsOf: ": ".utf8)
            append(field.name, field.value)
        }
        for field in headers.fields where Self.isEncodable(field) {
            let name = field.name.lowercased()
            if !Self.isReserved(name) { append(name, field.value) }
        }
    }

    /// Parses the lines of ``appendLines(to:)``, without their line feeds; nil if they are too long, a line is invalid, or the
    /// status or a time is missing or duplicate. Header fields may repeat. Reserved names of later versions are ignored.
    init?(lines: [String]) {
        guard lines.reduce(0, { $0 + $1.utf8.count + 1 }) <= Self.encodedByteCount else { return nil }
        var numbers: [String: Double] = [:]
        var headers = HTTPHeaders()
        var selecting = HTTPHeaders()
        for line in lines {
            guard let field = Self.field(line) else { return nil }
            switch field.name {
            case Name.status, Name.requestTime, Name.responseTime, Name.redirectLifetime:
                guard let number = Double(field.value), number.isFinite, numbers[field.name] == nil else { return nil }
                numbers[field.name] = number
            case Name.selecting:
                guard let inner = Self.field(field.value) else { return nil }
                selecting.add(name: inner.name, value: inner.value)
            case let name where Self.isReserved(name.lowercased()): continue
            default: headers.add(name: field.name.lowercased(), value: field.value)
            }
        }
        guard let status = numbers[Name.status].flatMap({ Int(exactly: $0) }), (100...999).contains(status),
            let requestTime = numbers[Name.requestTime], let responseTime = numbers[Name.responseTime],
            !(numbers[Name.redirectLifetime].map { $0 < 0 } ?? false)
        else { return nil }
        self.init(
            statusCode: status,
            headers: headers,
            requestTime: requestTime,
            responseTime: responseTime,
            selectingHeaders: selecting,
            redirectLifetime: numbers[Name.redirectLifetime]
        )
    }

    private static func field(_ line: String) -> HTTPHeaders.Field? {
        let name = line.utf8.prefix { $0 != UInt8(ascii: ":") }
        let rest = line.utf8.dropFirst(name.count)
        guard rest.starts(with: ": ".utf8) else { return nil }
        let field = HTTPHeaders.Field(
            name: String(decoding: name, as: UTF8.self),
            value: String(decoding: rest.dropFirst(2), as: UTF8.self)
        )
        return isEncodable(field) ? field : nil
    }

    private static func isEncodable(_ field: HTTPHeaders.Field) -> Bool {
        HTTPHeaders.isToken(field.name) && HTTPHeaders.isLine(field.value)
    }

    private static func isReserved(_ name: String) -> Bool {
        name.hasPrefix(Name.prefix) || name.hasPrefix(Name.receivedPrefix)
    }
}
