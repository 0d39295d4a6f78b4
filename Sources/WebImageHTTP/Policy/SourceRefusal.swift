/// Why a source is not asked.
enum SourceRefusal: Error, Hashable, Sendable {
    /// Its scheme is not one that may be used.
    case scheme(String)
    /// The URL has a user's name.
    case user
    /// The URL's host or port is not well formed, or could be read in two ways.
    case malformed
    /// The host ends in a number and is no address.
    case number(String)
    /// The address names an interface of this machine.
    case zone
    /// The name is one of local networks.
    case localName(String)
    /// The port is not one that may be used.
    case port(Int)
    /// A rule of the deny list covers it.
    case denied(SourceRule)
    /// Only sources of a list may be asked, and this is none of them.
    case unlisted
    /// The address is not one of the public internet.
    case address(IPAddress, AddressKind)
    /// The transport does not check the addresses that it connects to.
    case unchecked

    /// A fragment of a sentence. `host` is the host as far as it is known.
    func message(host: SourceHost? = nil) -> String {
        switch self {
        case .scheme(let scheme): "URLs of the scheme '\(scheme.prefix(20))' are refused"
        case .user: "a URL with a user's name or password is refused"
        case .malformed: "the URL's host or port is refused, because it could be read in more than one way"
        case .number(let name): "the host '\(name.prefix(60))' is refused: it ends in a number and is no address"
        case .zone: "an address with a zone is refused"
        case .localName(let name): "the host '\(name.prefix(60))' is refused: it is a name of local networks"
        case .port(let port): "port \(port) is refused"
        case .denied(let rule): "the source is refused by the rule '\(rule)'"
        case .unlisted: "the source is refused: it is not one of those that may be asked"
        case .address(let address, let kind): Self.words(address, kind, host)
        case .unchecked: "the source is refused: the transport does not check the addresses that it connects to"
        }
    }

    private static func words(_ address: IPAddress, _ kind: AddressKind, _ host: SourceHost?) -> String {
        let inner = address.embedded.map { " (\($0))" } ?? ""
        let what = "\(address)\(inner), \(kind.rawValue)"
        guard let name = host?.name else { return "the address is refused: \(what)" }
        return "the host '\(name.prefix(60))' is refused: it is at \(what)"
    }
}
