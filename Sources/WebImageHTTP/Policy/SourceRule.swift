/// Names sources of a ``SourcePolicy``: a host, all hosts below a domain, or a block of addresses, on one port or on any.
public struct SourceRule: Sendable, Hashable {
    enum Subject: Sendable, Hashable {
        case host(String)
        /// With its dot.
        case suffix(String)
        case network(IPNetwork)
    }

    let subject: Subject
    /// The port that it is about; nil for every one that the policy's list allows, and in a deny list for every one.
    public let port: Int?

    /// Reads a rule: `cdn.example.com`, `*.example.com` or `.example.com` (all hosts below it, but not itself), `10.1.2.3`,
    /// `10.0.0.0/8`, `::1`, `[fd00::/8]`, each with `:` and a port or without; IPv6 with a port needs its brackets.
    ///
    /// Host names mean what stands in the URL, whatever address they have. Case does not count. Nil for a text that is no rule; so
    /// is a host that would be read as an address, such as `127.1`.
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

    /// Whether it names the host, whatever its port.
    func matches(name: String?) -> Bool {
        guard let name else { return false }
        switch subject {
        case .host(let host): return host == name
        case .suffix(let suffix): return name.hasSuffix(suffix) && name.utf8.count > suffix.utf8.count
        case .network: return false
        }
    }

    /// Whether it names the address, whatever its port.
    func matches(_ address: IPAddress?) -> Bool {
        guard let address, case .network(let network) = subject else { return false }
        return network.contains(address)
    }

    /// Whether only an address tells if it matches.
    var isAboutAddresses: Bool {
        if case .network = subject { return true }
        return false
    }
}

extension SourceRule: CustomStringConvertible {
    /// The rule, written as it is read.
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
