// Stand-in until the real memory cache is merged.
public final class MemoryCache: Sendable {
    public static let defaultCostLimit = 256 << 20
    private let table = Lock<[String: Image]>([:])
    public init() {}
    public var maxMemoryCost: Int {
        get { 0 }
        set {}
    }
    public var maxMemoryCount: Int {
        get { 0 }
        set {}
    }
    public var usesWeakCache: Bool {
        get { false }
        set {}
    }
    public func image(forKey key: String) -> Image? { table.withLock { $0[key] } }
    public func setImage(_ image: Image, forKey key: String, cost: Int) { table.withLock { $0[key] = image } }
    public func removeImage(forKey key: String) { table.withLock { $0[key] = nil } }
    public func removeAll() { table.withLock { $0 = [:] } }
}
