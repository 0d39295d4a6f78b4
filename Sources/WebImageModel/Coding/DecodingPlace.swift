/// Where pictures are decoded.
public struct DecodingPlace: Sendable, Hashable {
    /// How they are decoded in processes of their own; nil in this process.
    public let isolation: DecodeIsolation?

    private init(_ isolation: DecodeIsolation?) { self.isolation = isolation }

    /// In this process: the default.
    public static let inProcess = DecodingPlace(nil)
    /// In worker processes, every format.
    public static let isolated = DecodingPlace(DecodeIsolation())
    /// In worker processes, as it says.
    public static func isolated(_ isolation: DecodeIsolation) -> DecodingPlace { DecodingPlace(isolation) }

    /// - Parameter domain: the policy's; nil to leave the place as it is.
    package func within(domain: String?) -> DecodingPlace {
        guard let domain, var isolation, isolation.domain != domain else { return self }
        isolation.domain = domain
        return DecodingPlace(isolation)
    }
}
