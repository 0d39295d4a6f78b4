/// The host of a URL, as the connecting code will interpret it.
enum SourceHost: Hashable, Sendable {
    /// A name in lower case, without a trailing dot; a name outside ASCII in its ASCII form, as in DNS.
    case name(String)
    /// An IP address.
    case address(IPAddress)

    /// Parses the text between the user info and the port, in every notation that libcurl, its IDNA library, or the C library's
    /// resolver would accept as an address.
    ///
    /// - Throws: ``SourceRefusal/malformed``, ``SourceRefusal/number(_:)`` for text that looks like an address and is invalid,
    ///   ``SourceRefusal/zone``.
    init(_ text: some StringProtocol) throws(SourceRefusal) {
        if text.utf8.first == UInt8(ascii: "[") {
            self = .address(try Self.bracketed(String(text)))
            return
        }
        let decoded = String(validating: Substring(text).utf8.percentDecoded, as: UTF8.self)
        guard let decoded, var name = InternationalName.ascii(decoded)?.lowercased() else {
            throw .malformed
        }
        if name.utf8.last == UInt8(ascii: ".") { name.removeLast() }
        guard Self.isWellFormed(name) else { throw .malformed }
        if let address = IPAddress(anySpelling: name) {
            self = .address(address)
            return
        }
        guard !IPAddress.endsInNumber(name) else { throw .number(name) }
        self = .name(name)
    }

    /// The name; nil for an address.
    var name: String? {
        if case .name(let name) = self { return name }
        return nil
    }

    /// The address; nil for a name.
    var address: IPAddress? {
        if case .address(let address) = self { return address }
        return nil
    }

    private static func bracketed(_ text: String) throws(SourceRefusal) -> IPAddress {
        guard text.utf8.last == UInt8(ascii: "]") else { throw .malformed }
        let inner = text.dropFirst().dropLast()
        // Also as "%25": a zone names an interface of this machine, so the address belongs to one of its networks.
        guard !inner.utf8.contains(UInt8(ascii: "%")) else { throw .zone }
        guard let address = IPAddress(String(inner)), address.family == .v6 else { throw .malformed }
        return address
    }

    /// Returns whether the name consists of valid labels.
    private static func isWellFormed(_ name: String) -> Bool {
        guard !name.isEmpty, name.utf8.count <= 253 else { return false }
        let labels = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return labels.allSatisfy { label in
            !label.isEmpty && label.count <= 252
                && label.allSatisfy { byte in
                    (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte)
                        || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
                }
        }
    }
}

/// Names that are resolved only in local networks or on the machine, never in the public DNS.
enum LocalNames {
    /// Returns whether a name, in lower case, is local: a single label, which is looked up in the machine's search domains, or a
    /// name in a reserved domain.
    static func contains(_ name: String) -> Bool {
        let labels = name.split(separator: ".", omittingEmptySubsequences: false)
        guard labels.count > 1, let last = labels.last else { return true }
        return topLevels.contains(String(last)) || name == "home.arpa" || name.hasSuffix(".home.arpa")
    }

    /// RFC 6761, 6762, 7686 and 8375, ICANN's `.internal`, and domains that routers and directory services often use.
    private static let topLevels: Set<String> = [
        "localhost", "localdomain", "local", "internal", "intranet", "private", "corp", "home", "lan", "test",
        "example",
        "invalid", "onion", "alt",
    ]
}
