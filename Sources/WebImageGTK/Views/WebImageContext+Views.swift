public import WebImage

private struct ManagerKey: WebImageContextKey {
    static var defaultValue: WebImageManager? { nil }
}

extension WebImageContext {
    /// The manager that loads a view's images; ``WebImageManager/shared`` by default. Only views read it.
    public var customManager: WebImageManager? {
        get { self[ManagerKey.self] }
        set { self[ManagerKey.self] = newValue }
    }

    /// The use of images of other sizes in a view's load whose context does not say: at least of those in memory.
    var viewSizeReuse: SizeReuse {
        let ofManager = (customManager ?? .shared).sizeReuse
        return ofManager == .none ? .memory : ofManager
    }
}
