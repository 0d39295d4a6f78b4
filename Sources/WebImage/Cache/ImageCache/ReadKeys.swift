/// Names a read of an entry's bytes: queries of equal keys share it.
///
/// The mark is part of it, so that a query begun after a change does not join a read begun before it.
struct ReadKey: Hashable, Sendable {
    let key: MemoryCacheKey
    let mark: WriteMarks.Mark
}

/// Names an image made of an entry's bytes: queries of equal keys share it.
struct DecodeKey: Hashable, Sendable {
    let read: ReadKey
    let options: ImageDecodeOptions
    let coder: CoderIdentity
    /// Whether the image that another query has put into memory meanwhile will do.
    let looksIntoMemory: Bool
    /// Whether an animation from there is to be a still picture.
    let wantsStill: Bool
    let storesToMemory: Bool

    init(_ query: DiskImageQuery) {
        read = query.readKey
        options = query.decodeOptions
        coder = CoderIdentity(query.coder)
        looksIntoMemory = query.cacheType.includesMemory
        wantsStill = query.options.contains(.decodeFirstFrameOnly)
        storesToMemory = query.storesToMemory
    }
}

/// Tells whether two coders are the same one.
enum CoderIdentity: Hashable, Sendable {
    /// An object, as long as somebody holds it.
    case object(ObjectIdentifier)
    /// Values of this type have no state to differ in.
    case kind(ObjectIdentifier)
    /// A value that cannot be compared: the same as no other.
    case unique(UInt64)

    init(_ coder: any ImageCoder) {
        if type(of: coder) is AnyClass {
            self = .object(ObjectIdentifier(coder as AnyObject))
        } else if Self.size(coder) == 0 {
            self = .kind(ObjectIdentifier(type(of: coder)))
        } else {
            self = .unique(
                Self.last.withLock { last in
                    last += 1
                    return last
                }
            )
        }
    }

    private static let last = Lock<UInt64>(0)

    private static func size<Coder: ImageCoder>(_ coder: Coder) -> Int { MemoryLayout<Coder>.size }
}
