/// A URL for logs and error descriptions, without secrets.
///
/// User names and passwords are replaced, and so are the values of parameters that sign a request or grant access. Parameter names
/// are compared without case, and without the prefixes of object stores.
struct PrintableAddress: CustomStringConvertible {
    private static let secret: Set<String> = [
        "signature", "sig", "sign", "hmac", "token", "accesstoken", "authtoken", "idtoken", "refreshtoken",
        "securitytoken",
        "sessiontoken", "credential", "auth", "authorization", "key", "apikey", "accesskey", "accesskeyid",
        "awsaccesskeyid",
        "googleaccessid", "keypairid", "policy", "password", "passwd", "pwd", "secret", "clientsecret", "session",
        "sessionid",
        "jwt", "code", "hdnea", "hdnts",
    ]
    private static let prefixes = ["xamz", "xgoog", "xoss", "xms"]

    let description: String

    init(_ address: String) { description = Self.withoutParameters(Self.withoutUser(address)) }

    private static func withoutUser(_ address: String) -> String {
        guard let start = address.firstRange(of: "://")?.upperBound else { return address }
        let authority = address[start...].prefix { !"/?#".contains($0) }
        guard let sign = authority.lastIndex(of: "@") else { return address }
        return address[..<start] + "***" + address[sign...]
    }

    private static func withoutParameters(_ address: String) -> String {
        guard let mark = address.firstIndex(of: "?") else { return address }
        let query = address[address.index(after: mark)...]
        guard query.contains("=") else { return address }
        var output = String(address[...mark])
        var rest = query
        while !rest.isEmpty {
            let parameter = rest.prefix { !"&;#".contains($0) }
            if let sign = parameter.firstIndex(of: "="), isSecret(parameter[..<sign]), parameter.last != "=" {
                output += parameter[...sign] + "***"
            } else {
                output += parameter
            }
            rest = rest[parameter.endIndex...]
            if let separator = rest.popFirst() { output.append(separator) }
        }
        return output
    }

    private static func isSecret(_ name: Substring) -> Bool {
        var name = name.lowercased()
        name.removeAll { !($0.isLetter || $0.isNumber) }
        if let prefix = prefixes.first(where: { name.hasPrefix($0) }) { name.removeFirst(prefix.count) }
        return secret.contains(name)
    }
}
