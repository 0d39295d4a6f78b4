/// The reason why a source is refused.
enum SourceRefusal: Error, Hashable, Sendable {
    /// The scheme is not allowed.
    case scheme(String)
    /// The URL contains a user name.
    case user
    /// The URL's host or port is malformed or ambiguous.
    case malformed
    /// The host ends in a number and is not a valid address.
    case number(String)
    /// The address names an interface of this machine.
    case zone
    /// The name is local.
    case localName(String)
    /// The port is not allowed.
    case port(Int)
    /// A rule of the deny list matches the source.
    case denied(SourceRule)
    /// Only the sources of a list are allowed, and this one is not listed.
    case unlisted
    /// The address does not belong to the public internet.
    case address(IPAddress, AddressKind)
    /// The transport does not check the addresses that it connects to.
    case unchecked

    /// Returns the error message, a fragment of a sentence. `host` is the host if it is known.
    func message(host: SourceHost? = nil) -> String {
        switch self {
        case .scheme(let scheme): "URLs of the scheme '\(scheme.prefix(20))' are refused"
        case .user: "a URL with a user name or password is refused"
        case .malformed: "the URL's host or port is refused, because it is malformed or ambiguous"
        case .number(let name): "the host '\(name.prefix(60))' is refused: it ends in a number but is not an address"
        case .zone: "an address with a zone is refused"
        case .localName(let name): "the host '\(name.prefix(60))' is refused: it is a local name"
        case .port(let port): "port \(port) is refused"
        case .denied(let rule): "the source is refused by the rule '\(rule)'"
        case .unlisted: "the source is refused: it is not in the list of allowed sources"
        case .address(let address, let kind): Self.words(address, kind, host)
        case .unchecked: "the source is refused: the transport does not check the addresses that it connects to"
        }
    }

    private static func words(_ address: IPAddress, _ kind: AddressKind, _ host: SourceHost?) -> String {
        let inner = address.embedded.map { " (\($0))" } ?? ""
        let what = "\(address)\(inner), \(kind.rawValue)"
        guard let name = host?.name else { return "the address is refused: \(what)" }
        return "the host '\(name.prefix(60))' is refused: it resolves to \(what)"
    }
}
