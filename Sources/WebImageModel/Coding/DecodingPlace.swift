/// Where pictures are decoded.
public struct DecodingPlace: Sendable, Hashable {
    /// How they are decoded in processes of their own; nil in this process.
    public let isolation: DecodeIsolation?

    private init(_ isolation: DecodeIsolation?) { self.isolation = isolation }

    /// In this process: the default. Coders that have workers of their own still use them, as SVG does (`WebImageFormats`).
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

    /// Whether this process is a worker. It decodes everything itself: its coders start no workers of their own.
    package static var isWorker: Bool { worker.withLock { $0 } }

    /// Makes this process a worker, before it decodes anything.
    package static func becomeWorker() { worker.withLock { $0 = true } }

    private static let worker = Lock(false)
}
