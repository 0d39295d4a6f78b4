public import WebImage

private struct ManagerKey: WebImageContextKey {
    static var defaultValue: WebImageManager? { nil }
}

extension WebImageContext {
    /// The manager that loads the picture of a view; ``WebImageManager/shared`` by default. Read by views alone.
    public var customManager: WebImageManager? {
        get { self[ManagerKey.self] }
        set { self[ManagerKey.self] = newValue }
    }
}
