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
