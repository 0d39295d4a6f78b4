// The default instances. The components do not depend on each other; they are combined here.

extension ImageCache {
    /// The cache with the namespace "default" in the default directory.
    public static let shared = ImageCache()

    /// Creates a cache with a separate directory, created if needed: `namespace` in `directory`. Images without bytes are encoded
    /// by ``ImageCodersManager/shared``.
    ///
    /// - Parameters:
    ///   - namespace: The name of the directory; "/" and NUL in it become "_".
    ///   - directory: The parent directory; ``defaultDiskCacheDirectory`` if nil.
    ///   - config: Copied.
    public convenience init(
        namespace: String = "default",
        directory: String? = nil,
        config: ImageCacheConfig = .default
    ) {
        self.init(namespace: namespace, directory: directory, config: config, coder: ImageCodersManager.shared)
    }
}

extension ImageCachesManager {
    /// The manager of ``ImageCache/shared``.
    public static let shared = ImageCachesManager()

    /// Creates a manager of ``ImageCache/shared``.
    package convenience init() { self.init(caches: [ImageCache.shared]) }
}

extension ImageLoadersManager {
    /// The default loader, for http, https, file and data URLs.
    public static let shared = ImageLoadersManager()

    /// Creates a manager of the built-in loaders.
    package convenience init() { self.init(loaders: Self.builtIn) }

    /// The loaders for data URLs and files, and ``WebImageDownloader/shared``.
    public static var builtIn: [any ImageLoading] {
        [DataURLImageLoader.shared, FileImageLoader.shared, WebImageDownloader.shared]
    }
}

extension IsolatedImageCoder {
    /// Creates a coder that uses ``ImageCodersManager/shared`` for encoding, and for decoding formats that are not isolated.
    ///
    /// - Parameter isolation: The formats to decode in workers, and their settings.
    public convenience init(_ isolation: DecodeIsolation = DecodeIsolation()) {
        self.init(isolation, base: ImageCodersManager.shared)
    }
}

extension DecodeWorker {
    /// Runs a requested worker as ``runIfRequested(coder:)`` does, with ``ImageCodersManager/shared``.
    public static func runIfRequested() { runIfRequested(coder: ImageCodersManager.shared) }
}
