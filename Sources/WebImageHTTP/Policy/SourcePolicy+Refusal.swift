package import FoundationEssentials

extension SourcePolicy {
    /// Returns the error if the URL itself is refused; nil if it is accepted. Does no DNS lookup, so the host may still resolve to
    /// a refused address. Any thread; costs a few microseconds.
    ///
    /// - Parameter url: a URL, as it was given.
    /// - Returns: an error with ``WebImageError/Code/sourceRefused``.
    package func refusal(of url: URL) -> WebImageError? {
        guard !isTrusted else { return nil }
        do throws(SourceRefusal) {
            try check(url.absoluteString)
            return nil
        } catch {
            return WebImageError(.sourceRefused, error.message(), url: url)
        }
    }

    /// Returns the error if a connection must not be used for a host. For custom transports that enforce
    /// ``HTTPTransferRequest/sourcePolicy``: call it before each connection is opened, and before each request is sent over a kept
    /// one.
    ///
    /// - Parameters:
    ///   - host: the host of the URL, as it was resolved.
    ///   - port: the port of the connection.
    ///   - address: the IP address of the connection, in its usual notation; an invalid one is refused.
    /// - Returns: an error with ``WebImageError/Code/sourceRefused``, or nil.
    public func refusal(ofHost host: String, port: Int, at address: String) -> WebImageError? {
        guard !isTrusted else { return nil }
        do throws(SourceRefusal) {
            let host = try SourceHost(host)
            guard let address = IPAddress(address) else { throw .malformed }
            guard let refusal = refusal(host, port: port, at: address) else { return nil }
            return WebImageError(.sourceRefused, refusal.message(host: host))
        } catch {
            return WebImageError(.sourceRefused, error.message())
        }
    }

    /// Checks a URL's text.
    ///
    /// - Throws: the reason for the refusal.
    func check(_ text: String) throws(SourceRefusal) {
        let scheme = SourceTarget.scheme(of: text)
        guard let known = Scheme(rawValue: scheme), schemes.contains(known) else { throw .scheme(scheme) }
        guard known != .data else { return }
        let target = try SourceTarget(text)
        if let refusal = refusal(target.host, port: target.port, at: target.host.address) { throw refusal }
    }

    /// Applies the rules. Pure.
    ///
    /// - Parameter address: the address of the host; nil while it is unknown.
    func refusal(_ host: SourceHost, port: Int, at address: IPAddress?) -> SourceRefusal? {
        if let rule = denial(host, port: port, at: address) { return .denied(rule) }
        if let limitedTo, !isListed(limitedTo, host, port: port, at: address) { return .unlisted }
        if allowed.contains(where: { lifts($0, port) && ($0.matches(name: host.name) || $0.matches(address)) }) {
            return nil
        }
        // The address is checked first: it is more useful to an operator than the port.
        if let address, let kind = AddressKind(address) { return .address(address, kind) }
        if let name = host.name, LocalNames.contains(name) { return .localName(name) }
        guard ports.contains(port) || (address == nil && mayAllowLater(port)) else { return .port(port) }
        return nil
    }

    private func denial(_ host: SourceHost, port: Int, at address: IPAddress?) -> SourceRule? {
        let addresses = [address, address?.embedded, host.address, host.address?.embedded]
        return denied.first { rule in
            guard rule.port == nil || rule.port == port else { return false }
            return rule.matches(name: host.name) || addresses.contains { rule.matches($0) }
        }
    }

    private func isListed(_ list: [SourceRule], _ host: SourceHost, port: Int, at address: IPAddress?) -> Bool {
        list.contains { rule in
            guard rule.port == nil || rule.port == port else { return false }
            return rule.matches(name: host.name) || rule.matches(address) || (address == nil && rule.isAboutAddresses)
        }
    }

    /// Returns whether a rule of ``allowed`` covers the port.
    private func lifts(_ rule: SourceRule, _ port: Int) -> Bool { rule.port.map { $0 == port } ?? ports.contains(port) }

    /// Returns whether a rule may allow the port once the address is known.
    private func mayAllowLater(_ port: Int) -> Bool { allowed.contains { $0.isAboutAddresses && lifts($0, port) } }
}
