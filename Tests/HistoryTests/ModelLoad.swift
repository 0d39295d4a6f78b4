import WebImage

/// What the model knows of a load, or of an item of a list.
final class ModelLoad: @unchecked Sendable {
    // Sendable because it is touched only by the thread that steps the world.

    /// Among the troubles: the delegate said no.
    static let refused = 100

    let number: Int
    let spec: ModelOperation.Load
    let isPrefetch: Bool
    /// Versions that it may bring.
    var allowed: ReferenceModel.Versions = 0
    /// Versions that the server may have told it.
    var answered: ReferenceModel.Versions = 0
    /// What may have gone wrong.
    var troubles: Set<Int> = []
    var priority: LoadPriority
    /// Whether the URL counts as failed.
    var isBlocked = false
    /// Whether it must end with a cancel.
    var isCancelled = false
    /// Whether it may end with a cancel, unless something else comes first.
    var mayBeCancelled = false
    /// Whether something was stored or removed by others meanwhile.
    var isDisturbed = false
    /// Whether the picture was in memory for sure when it began.
    var isInMemory = false
    var interim: ModelPicture?
    var finalCount = 0
    var received: Int64 = 0
    /// What the caller holds.
    var operation: WebImageLoadOperation?
    weak var trace: WebImageLoadOperation?

    init(_ number: Int, _ spec: ModelOperation.Load, isPrefetch: Bool) {
        self.number = number
        self.spec = spec
        self.isPrefetch = isPrefetch
        priority = spec.options.priority
    }

    var key: Int { spec.variant.number }
    var isRefresh: Bool { spec.options.contains(.refreshCached) }
    /// Whether it may take from memory what was there, or make it useless for others.
    var isUnsettling: Bool { isRefresh || spec.isLimited }
    /// Whether it is begun as callers begin loads, who are not told when nothing follows an interim result. A refresh is not: only one who
    /// is told knows of its end.
    var isPublic: Bool { number % 2 == 0 && !isRefresh }
    /// Whether nothing says where to look and to store.
    var isPlain: Bool {
        spec.query == nil && spec.store == nil && spec.originalQuery == nil && spec.originalStore == nil
    }
}

extension ReferenceModel.Versions {
    func has(_ version: Int) -> Bool { version < 64 && self & (1 << UInt64(version)) != 0 }
}
