import WebImage

/// The model's state of a load, or of an item of a list.
final class ModelLoad: @unchecked Sendable {
    // Sendable because only the thread that steps the world uses it.

    /// Among the possible errors: the delegate refused.
    static let refused = 100

    let number: Int
    let spec: ModelOperation.Load
    let isPrefetch: Bool
    /// Versions that it may deliver.
    var allowed: ReferenceModel.Versions = 0
    /// Versions that the server may have sent to it.
    var answered: ReferenceModel.Versions = 0
    /// The possible errors.
    var troubles: Set<Int> = []
    var priority: LoadPriority
    /// A Boolean value that indicates whether the URL counts as failed.
    var isBlocked = false
    /// A Boolean value that indicates whether it must end with a cancellation.
    var isCancelled = false
    /// A Boolean value that indicates whether it may end with a cancellation, unless something else comes first.
    var mayBeCancelled = false
    /// A Boolean value that indicates whether another caller stored or removed something meanwhile.
    var isDisturbed = false
    /// A Boolean value that indicates whether the image was certainly in memory when it began.
    var isInMemory = false
    var interim: ModelImage?
    var finalCount = 0
    var received: Int64 = 0
    /// The caller's operation.
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
    /// A Boolean value that indicates whether it may take the old image from memory, or make it useless for others.
    var isUnsettling: Bool { isRefresh || spec.isLimited }
    /// A Boolean value that indicates whether the load was started like callers start them, without a notification when
    /// nothing follows an interim result. A refresh is not: only a receiver of that notification knows of its end.
    var isPublic: Bool { number % 2 == 0 && !isRefresh }
    /// A Boolean value that indicates whether no option says where to search and to store.
    var isPlain: Bool {
        spec.query == nil && spec.store == nil && spec.originalQuery == nil && spec.originalStore == nil
    }
}

extension ReferenceModel.Versions {
    func has(_ version: Int) -> Bool { version < 64 && self & (1 << UInt64(version)) != 0 }
}
