public import FoundationEssentials

extension SourcePolicy {
    /// Why a URL is not loaded, as far as the URL tells; nil where nothing is wrong with it. Asks no name service, so a host may
    /// still turn out to be at an address that is refused. Any thread; costs a few microseconds.
    ///
    /// - Parameter url: a URL, as it was given.
    /// - Returns: an error with ``WebImageError/Code/sourceRefused``.
    public func refusal(of url: URL) -> WebImageError? {
        guard !isTrusted else { return nil }
        do throws(SourceRefusal) {
            try check(url.absoluteString)
            return nil
        } catch {
            return WebImageError(.sourceRefused, error.message(), url: url)
        }
    }

    /// Why a connection is not used for a host, for transports of one's own that heed ``HTTPTransferRequest/sourcePolicy``. To be
    /// asked before each connection is made, and before each request is sent over one that was kept.
    ///
    /// - Parameters:
    ///   - host: the host of the URL, as it was resolved.
    ///   - port: the port that is connected to.
    ///   - address: the address that is connected to, in its usual spelling; what is none is refused.
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

    /// - Throws: why the URL is not loaded.
    func check(_ text: String) throws(SourceRefusal) {
        let scheme = SourceTarget.scheme(of: text)
        guard let known = Scheme(rawValue: scheme), schemes.contains(known) else { throw .scheme(scheme) }
        guard known != .data else { return }
        let target = try SourceTarget(text)
        if let refusal = refusal(target.host, port: target.port, at: target.host.address) { throw refusal }
    }

    /// The rules, pure.
    ///
    /// - Parameter address: where the host is; nil as long as that is not known.
    func refusal(_ host: SourceHost, port: Int, at address: IPAddress?) -> SourceRefusal? {
        if let rule = denial(host, port: port, at: address) { return .denied(rule) }
        if let limitedTo, !isListed(limitedTo, host, port: port, at: address) { return .unlisted }
        if allowed.contains(where: { lifts($0, port) && ($0.matches(name: host.name) || $0.matches(address)) }) {
            return nil
        }
        // The address first: it tells an operator more than the port.
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

    /// Whether a rule of ``allowed`` is about the port.
    private func lifts(_ rule: SourceRule, _ port: Int) -> Bool { rule.port.map { $0 == port } ?? ports.contains(port) }

    /// Whether a rule may allow the port once the address is known.
    private func mayAllowLater(_ port: Int) -> Bool { allowed.contains { $0.isAboutAddresses && lifts($0, port) } }
}
