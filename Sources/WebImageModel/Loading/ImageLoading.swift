public import FoundationEssentials

/// What a loader is asked for.
public struct ImageLoadRequest: Sendable {
    /// What to load.
    public var url: URL
    /// The options of the load; from a manager those alone that change what is sent or accepted, because loads that differ in
    /// the rest share the download.
    public var options: WebImageOptions
    /// How urgent it is; can change while it runs.
    public var priority: LoadPriority
    /// Header fields of this load alone, in place of the loader's fields of the same name; loads with different ones do not
    /// share a download.
    public var additionalHeaders: HTTPHeaders
    /// Options for loaders of one's own; loads with different ones do not share a download.
    public var loadValues: OptionValues
    /// Hooks and retry policy of the load; nil when it has none. From a manager it holds nothing else of the load's context,
    /// because loads that differ in the rest share the download.
    public var context: WebImageContext?
    /// Where a loader may leave what has come of the picture so far, for previews; nil when nobody can want any.
    public var partialData: PartialImageData?
    /// Where the library's own downloader tells what happens; nil when nobody wants to know.
    package var trace: (any LoadTelling)?

    /// A request.
    public init(
        url: URL,
        options: WebImageOptions = [],
        priority: LoadPriority = .normal,
        additionalHeaders: HTTPHeaders = [:],
        loadValues: OptionValues = OptionValues(),
        context: WebImageContext? = nil
    ) {
        self.url = url
        self.options = options
        self.priority = priority
        self.additionalHeaders = additionalHeaders
        self.loadValues = loadValues
        self.context = context
    }
}

/// How far a download is.
public struct LoadProgress: Sendable, Hashable {
    /// Bytes received so far, content decoding undone.
    public var receivedByteCount: Int64
    /// Bytes that will come in all; nil when the server does not say.
    public var expectedByteCount: Int64?
    /// How fast bytes arrive at present; nil when that is not known. Not looked at when readings are compared.
    public var bytesPerSecond: Double? {
        get { speed.value }
        set { speed.value = newValue }
    }
    private var speed: Uncompared<Double?>
    /// A part of the whole between 0 and 1; 0 when the whole is unknown.
    public var fraction: Double {
        guard let expectedByteCount, expectedByteCount > 0 else { return 0 }
        return min(max(Double(receivedByteCount) / Double(expectedByteCount), 0), 1)
    }

    /// A reading.
    public init(receivedByteCount: Int64, expectedByteCount: Int64?, bytesPerSecond: Double? = nil) {
        self.receivedByteCount = receivedByteCount
        self.expectedByteCount = expectedByteCount
        speed = Uncompared(value: bytesPerSecond)
    }
}

/// What a loader delivers.
public struct LoadedImageData: Sendable {
    /// The encoded picture, complete; empty when the loader made the picture itself and has no bytes.
    public var data: Data
    /// The picture, from a loader that makes pictures and not bytes; nil from all others.
    public var image: Image?
    /// The HTTP response, if it came by HTTP.
    public var response: HTTPResponse?
    /// How long the download took, if there was one.
    public var metrics: DownloadMetrics? {
        get { timings?.value }
        set { timings = newValue.map { Shared($0) } }
    }
    /// Behind a reference, because results are copied often.
    private var timings: Shared<DownloadMetrics>?

    /// Loaded bytes.
    public init(data: Data, response: HTTPResponse? = nil, metrics: DownloadMetrics? = nil) {
        self.data = data
        self.response = response
        self.metrics = metrics
    }

    /// A picture that the loader made, in full size.
    ///
    /// - Parameters:
    ///   - image: the picture.
    ///   - data: the same picture encoded, if the loader has that, too.
    public init(image: Image, data: Data? = nil) {
        self.init(data: data ?? Data())
        self.image = image
    }
}

/// A load that a loader has under way.
public protocol ImageLoaderOperation: WebImageOperation {
    /// Makes the load more or less urgent, also while it waits.
    func setPriority(_ priority: LoadPriority)
}

/// Gets encoded pictures for URLs; ``WebImageDownloader`` is the library's own.
public protocol ImageLoading: AnyObject, Sendable {
    /// Whether this loader serves URLs like this one.
    func canLoad(_ url: URL, options: WebImageOptions) -> Bool

    /// Whether this loader serves the request, for loaders that look at more than the URL; what is asked before a load. By
    /// default whether ``canLoad(_:options:)`` says so.
    func canLoad(_ request: ImageLoadRequest) -> Bool

    /// Starts a load.
    ///
    /// - Parameters:
    ///   - request: what to load, and how.
    ///   - progress: called zero or more times, in order, on any thread, never after `completion`.
    ///   - completion: called exactly once, on any thread, with ``WebImageError/Code/cancelled`` after a cancel.
    func load(
        _ request: ImageLoadRequest,
        progress: @escaping @Sendable (LoadProgress) -> Void,
        completion: @escaping @Sendable (Result<LoadedImageData, WebImageError>) -> Void
    ) -> any ImageLoaderOperation

    /// The header fields that a request will be sent with, as far as they are known before: a cache compares them with those that an
    /// answer was made for (`Vary`), and heeds what they say about caching. By default those of the request. Called on any
    /// thread, before loads that are not ``CachePolicy/immutable``: must be quick.
    func requestHeaders(for request: ImageLoadRequest) -> HTTPHeaders

    /// Whether a URL that failed with `error` should not be tried again until asked to.
    func shouldBlockFailedURL(_ url: URL, error: WebImageError) -> Bool
}

extension ImageLoading {
    /// The request's own fields.
    public func requestHeaders(for request: ImageLoadRequest) -> HTTPHeaders { request.additionalHeaders }

    /// Whether the request's URL is served.
    public func canLoad(_ request: ImageLoadRequest) -> Bool { canLoad(request.url, options: request.options) }
}
