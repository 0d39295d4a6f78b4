import FoundationEssentials

/// The bucket of a store, and the way in which it is addressed.
struct S3Configuration: Sendable, Hashable {
    /// The error of an address that cannot be used, as a part of a sentence.
    struct Problem: Error, Hashable {
        let description: String
    }

    enum Style: String, Sendable {
        /// `https://endpoint/bucket/key`.
        case path
        /// `https://bucket.endpoint/key`.
        case virtualHost = "virtual"
    }

    /// The address of an object, or of the bucket.
    struct Object: Sendable, Hashable {
        let url: URL
        /// The value of the field `Host`.
        let host: String
        /// The percent-encoded path.
        let path: String
    }

    private(set) var bucket: String
    /// The names of objects begin with it; empty, or with a slash at the end.
    private(set) var prefix: String
    private(set) var region: String
    private(set) var style: Style
    private var isSecure = true
    /// Host and port, as in a URL.
    private var endpoint: String

    /// Parses `s3://bucket[/prefix][?endpoint=URL&region=NAME&style=path|virtual]`.
    ///
    /// - Parameter settings: the defaults of endpoint and region.
    init(url text: String, settings: AWSSettings) throws(Problem) {
        guard let url = URLComponents(string: text), let scheme = url.scheme?.lowercased() else {
            throw Problem(description: "it is not a URL")
        }
        guard scheme == "s3" else { throw Problem(description: "its scheme is not s3") }
        guard url.user == nil, url.password == nil else {
            throw Problem(description: "it contains credentials, which belong into the environment or a file")
        }
        guard url.port == nil, url.fragment == nil else { throw Problem(description: "it has a port or a fragment") }
        guard let bucket = url.host, Self.isBucket(bucket) else {
            throw Problem(description: "it has no valid name of a bucket")
        }
        self.bucket = bucket
        prefix = try Self.prefix(url.path)
        var options = try Self.options(url.queryItems ?? [])
        region = options.removeValue(forKey: "region") ?? settings.region ?? "us-east-1"
        guard Self.isRegion(region) else { throw Problem(description: "its region is not valid") }
        let custom = options.removeValue(forKey: "endpoint") ?? settings.endpoint
        let domain = region.hasPrefix("cn-") ? "amazonaws.com.cn" : "amazonaws.com"
        let address = try Self.endpoint(custom ?? "https://s3.\(region).\(domain)")
        (isSecure, endpoint) = (address.isSecure, address.authority)
        // A dot in the bucket would not match the certificate of its host; other services are often below an address.
        style = custom != nil || bucket.contains(".") ? .path : .virtualHost
        if let word = options.removeValue(forKey: "style") {
            guard let style = Style(rawValue: word) else {
                throw Problem(description: "its style is not path or virtual")
            }
            self.style = style
        }
        // The bucket cannot be a part of the name then.
        guard style == .path || !Self.isAddress(address.authority) else {
            throw Problem(description: "its style is virtual, and its endpoint is an address")
        }
        guard object("") != nil else { throw Problem(description: "it is not the address of a bucket") }
    }

    /// Returns the address of an object, or of the bucket without a name.
    func object(_ name: String?, query: String = "") -> Object? {
        let key = name.map { "/" + AWSSigner.encoded(path: prefix + $0) }
        let host = style == .path ? endpoint : "\(bucket).\(endpoint)"
        let path = style == .path ? "/\(bucket)\(key ?? "")" : key ?? "/"
        let text = "\(isSecure ? "https" : "http")://\(host)\(path)"
        let url = URL(string: query.isEmpty ? text : "\(text)?\(query)")
        return url.map { Object(url: $0, host: host, path: path) }
    }

    /// Returns an object as the source of a copy.
    func copySource(_ name: String) -> String { "/\(bucket)/" + AWSSigner.encoded(path: prefix + name) }

    // MARK: Parsing

    private static func options(_ items: [URLQueryItem]) throws(Problem) -> [String: String] {
        var options: [String: String] = [:]
        for item in items {
            guard ["endpoint", "region", "style"].contains(item.name), options[item.name] == nil,
                let value = item.value, !value.isEmpty
            else {
                throw Problem(description: "it has a parameter other than endpoint, region and style, or one twice")
            }
            options[item.name] = value
        }
        return options
    }

    private static func prefix(_ path: String) throws(Problem) -> String {
        let parts = path.split(separator: "/")
        guard path.utf8.count <= 512, parts.allSatisfy({ $0 != "." && $0 != ".." }),
            path.unicodeScalars.allSatisfy({ $0.value >= 32 && $0.value != 127 })
        else { throw Problem(description: "its path is not a valid prefix of names") }
        return parts.map { $0 + "/" }.joined()
    }

    private static func endpoint(_ text: String) throws(Problem) -> (isSecure: Bool, authority: String) {
        let text = text.contains("://") ? text : "https://\(text)"
        guard let url = URLComponents(string: text), let scheme = url.scheme?.lowercased(),
            ["http", "https"].contains(scheme), let host = url.host?.lowercased(), !host.isEmpty,
            url.user == nil, url.password == nil, url.query == nil, url.fragment == nil,
            url.path.isEmpty || url.path == "/",
            host.utf8.allSatisfy({ $0 > 32 && $0 < 127 && !"/?#@%\\".utf8.contains($0) })
        else { throw Problem(description: "its endpoint is not the URL of a server") }
        let name = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
        // As libcurl writes the field Host: without the port of the scheme.
        guard let port = url.port, port != (scheme == "https" ? 443 : 80) else { return (scheme == "https", name) }
        guard (1...65535).contains(port) else { throw Problem(description: "the port of its endpoint is not valid") }
        return (scheme == "https", "\(name):\(port)")
    }

    private static func isAddress(_ authority: String) -> Bool {
        authority.hasPrefix("[") || authority.utf8.prefix { $0 != 58 }.allSatisfy { $0 == 46 || (48...57).contains($0) }
    }

    private static func isBucket(_ name: String) -> Bool {
        func isPlain(_ byte: UInt8) -> Bool {
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (48...57).contains(byte)
        }
        let bytes = Array(name.utf8)
        guard (3...63).contains(bytes.count), let first = bytes.first, let last = bytes.last else { return false }
        return isPlain(first) && isPlain(last) && !name.contains("..")
            && bytes.allSatisfy { isPlain($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".") }
    }

    private static func isRegion(_ name: String) -> Bool {
        (1...64).contains(name.utf8.count)
            && name.utf8.allSatisfy {
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) || (48...57).contains($0)
                    || $0 == UInt8(ascii: "-")
            }
    }
}
