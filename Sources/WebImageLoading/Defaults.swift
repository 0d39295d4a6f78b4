// What everything uses unless told otherwise. The parts do not know each other: here they are put together.

extension ImageCache {
    /// The cache of the namespace "default" in the default directory.
    public static let shared = ImageCache()

    /// A cache of its own directory, made if needed: `namespace` in `directory`. Images without bytes are encoded by
    /// ``ImageCodersManager/shared``.
    ///
    /// - Parameters:
    ///   - namespace: the name of the directory; "/" and NUL in it become "_".
    ///   - directory: where that is; ``defaultDiskCacheDirectory`` if nil.
    ///   - config: copied.
    public convenience init(
        namespace: String = "default",
        directory: String? = nil,
        config: ImageCacheConfig = .default
    ) {
        self.init(namespace: namespace, directory: directory, config: config, coder: ImageCodersManager.shared)
    }
}

extension ImageCachesManager {
    /// A manager of ``ImageCache/shared``.
    public static let shared = ImageCachesManager()

    /// A manager of ``ImageCache/shared``.
    public convenience init() { self.init(caches: [ImageCache.shared]) }
}

extension ImageLoadersManager {
    /// The manager that everything uses unless told otherwise: http, https, file and data URLs.
    public static let shared = ImageLoadersManager()

    /// A manager of the built-in loaders.
    public convenience init() { self.init(loaders: Self.builtIn) }

    /// Data URLs, files, and ``WebImageDownloader/shared``.
    public static var builtIn: [any ImageLoading] {
        [DataURLImageLoader.shared, FileImageLoader.shared, WebImageDownloader.shared]
    }
}

extension IsolatedImageCoder {
    /// A coder that encodes, and decodes what is not isolated, with ``ImageCodersManager/shared``.
    ///
    /// - Parameter isolation: what is decoded in workers, and how.
    public convenience init(_ isolation: DecodeIsolation = DecodeIsolation()) {
        self.init(isolation, base: ImageCodersManager.shared)
    }
}

extension DecodeWorker {
    /// As ``runIfRequested(coder:)`` with ``ImageCodersManager/shared``.
    public static func runIfRequested() { runIfRequested(coder: ImageCodersManager.shared) }
}
