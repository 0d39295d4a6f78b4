/// A rule that matches sources of a ``SourcePolicy``: a host, all subdomains of a domain, or a block of addresses, on one port or
/// on any.
public struct SourceRule: Sendable, Hashable {
    enum Subject: Sendable, Hashable {
        case host(String)
        /// The suffix, including its leading dot.
        case suffix(String)
        case network(IPNetwork)
    }

    let subject: Subject
    /// The port that the rule applies to; nil for all ports that the policy allows, and in a deny list for all ports.
    package let port: Int?

    /// Parses a rule: `cdn.example.com`, `*.example.com` or `.example.com` (all subdomains, but not the domain itself), `10.1.2.3`,
    /// `10.0.0.0/8`, `::1`, `[fd00::/8]`, each with or without `:` and a port; IPv6 with a port needs brackets.
    ///
    /// A host name matches the host in the URL, whatever its address is. Case-insensitive. Nil for an invalid rule, and for a host
    /// that would be read as an address, such as `127.1`.
    public init?(_ text: String) {
        guard let (subject, port) = try? Self.parse(text) else { return nil }
        (self.subject, self.port) = (subject, port)
    }

    private static func parse(_ text: String) throws(SourceRefusal) -> (Subject, Int?) {
        // IPv6 without brackets, and so without a port.
        if text.utf8.first != UInt8(ascii: "["), text.utf8.count(where: { $0 == UInt8(ascii: ":") }) > 1 {
            guard let network = IPNetwork(text) else { throw .malformed }
            return (.network(network), nil)
        }
        let (host, portText) = try SourceTarget.parts(text)
        let port = try SourceTarget.port(portText)
        guard portText == nil || port != nil else { throw .malformed }
        return (try Self.subject(host), port)
    }

    private static func subject(_ host: Substring) throws(SourceRefusal) -> Subject {
        if host.utf8.first == UInt8(ascii: "[") {
            guard let network = IPNetwork(String(host.dropFirst().dropLast())), network.address.family == .v6 else {
                throw .malformed
            }
            return .network(network)
        }
        if let network = IPNetwork(String(host)) { return .network(network) }
        let bare = host.hasPrefix("*.") ? host.dropFirst(2) : host.hasPrefix(".") ? host.dropFirst() : host
        guard case .name(let name) = try SourceHost(bare) else { throw .malformed }
        return bare.startIndex == host.startIndex ? .host(name) : .suffix("." + name)
    }

    /// Returns whether the rule matches the host, whatever its port.
    func matches(name: String?) -> Bool {
        guard let name else { return false }
        switch subject {
        case .host(let host): return host == name
        case .suffix(let suffix): return name.hasSuffix(suffix) && name.utf8.count > suffix.utf8.count
        case .network: return false
        }
    }

    /// Returns whether the rule matches the address, whatever its port.
    func matches(_ address: IPAddress?) -> Bool {
        guard let address, case .network(let network) = subject else { return false }
        return network.contains(address)
    }

    /// True if only an address can match the rule.
    var isAboutAddresses: Bool {
        if case .network = subject { return true }
        return false
    }
}

extension SourceRule: CustomStringConvertible {
    /// The rule in the notation that ``init(_:)`` parses.
    public var description: String {
        let text =
            switch subject {
            case .host(let host): host
            case .suffix(let suffix): "*" + suffix
            case .network(let network) where network.address.family == .v6: "[\(network)]"
            case .network(let network): "\(network)"
            }
        return port.map { "\(text):\($0)" } ?? text
    }
}
