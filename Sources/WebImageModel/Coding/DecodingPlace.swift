/// The place where images are decoded: this process or worker processes.
public struct DecodingPlace: Sendable, Hashable {
    /// The settings of the worker processes; nil for this process.
    package let isolation: DecodeIsolation?

    private init(_ isolation: DecodeIsolation?) { self.isolation = isolation }

    /// In this process: the default. Coders that have separate workers still use them, as SVG, PDF, videos and raw files do
    /// (`WebImageFormats`).
    public static let inProcess = DecodingPlace(nil)
    /// In worker processes, every format.
    public static let isolated = DecodingPlace(DecodeIsolation())
    /// In worker processes with these settings.
    public static func isolated(_ isolation: DecodeIsolation) -> DecodingPlace { DecodingPlace(isolation) }

    /// - Parameter domain: the policy's domain; nil to leave the place as it is.
    package func within(domain: String?) -> DecodingPlace {
        guard let domain, var isolation, isolation.domain != domain else { return self }
        isolation.domain = domain
        return DecodingPlace(isolation)
    }

    /// Indicates whether this process is a worker. A worker decodes everything itself: its coders start no further workers.
    package static var isWorker: Bool { worker.withLock { $0 } }

    /// Makes this process a worker. Called before it decodes anything.
    package static func becomeWorker() { worker.withLock { $0 = true } }

    private static let worker = Lock(false)
}
