public import FoundationEssentials

/// A request to a loader.
public struct ImageLoadRequest: Sendable {
    /// The URL to load.
    public var url: URL
    /// The options of the load; from a manager only those that change what is sent or accepted, because loads that differ in the
    /// others share the download.
    public var options: WebImageOptions
    /// The priority; can change while the load runs.
    public var priority: LoadPriority
    /// Header fields of only this load, in place of the loader's fields of the same name; loads with different ones do not share a
    /// download.
    public var additionalHeaders: HTTPHeaders
    /// Options for custom loaders; loads with different ones do not share a download.
    public var loadValues: OptionValues
    /// The hooks and retry policy of the load; nil if it has none. From a manager it contains nothing else of the load's context,
    /// because loads that differ in the rest share the download.
    public var context: WebImageContext?
    /// The receiver of partial data for previews; nil if the request cannot have previews. Whether they are wanted now:
    /// ``PartialImageData/isWanted``.
    public var partialData: PartialImageData?
    /// Indicates whether the library's loaders may return a video as ``LoadedImageData/byteSource``, of which only parts are read. False for callers
    /// that want its bytes.
    package var readsParts = false
    /// The part of the body to request; nil for all of it.
    package var part: BodyPart?
    /// The receiver of events from the library's downloader; nil if the load is not observed.
    package var trace: (any LoadEventSink)?

    /// Creates a request.
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

/// A part of a body, as a range request asks for it.
package struct BodyPart: Sendable {
    package var range: Range<Int>
    /// The maximum number of bytes to take of a whole body, which a server without ranges sends: it is cut off there.
    package var mostOfWhole: Int

    package init(range: Range<Int>, mostOfWhole: Int) { (self.range, self.mostOfWhole) = (range, mostOfWhole) }
}

/// The progress of a download.
public struct LoadProgress: Sendable, Hashable {
    /// The number of bytes received so far, after content decoding.
    public var receivedByteCount: Int64
    /// The total number of bytes; nil if the server does not declare it.
    public var expectedByteCount: Int64?
    /// The current transfer rate; nil if not known. Ignored when values are compared.
    public var bytesPerSecond: Double? {
        get { speed.value }
        set { speed.value = newValue }
    }
    private var speed: IgnoredInEquality<Double?>
    /// The fraction received, between 0 and 1; 0 if the total is unknown.
    public var fraction: Double {
        guard let expectedByteCount, expectedByteCount > 0 else { return 0 }
        return min(max(Double(receivedByteCount) / Double(expectedByteCount), 0), 1)
    }

    /// Creates a progress value.
    public init(receivedByteCount: Int64, expectedByteCount: Int64?, bytesPerSecond: Double? = nil) {
        self.receivedByteCount = receivedByteCount
        self.expectedByteCount = expectedByteCount
        speed = IgnoredInEquality(value: bytesPerSecond)
    }
}

/// The result of a loader.
public struct LoadedImageData: Sendable {
    /// The complete encoded image; empty if the loader made the image itself and has no bytes.
    public var data: Data
    /// The image, from a loader that makes images instead of bytes; nil from all others.
    public var image: Image?
    /// The file, of which only parts are read, instead of ``data``, which is empty then: a video.
    package var byteSource: (any ImageByteSource)?
    /// The HTTP response, if it was loaded by HTTP.
    public var response: HTTPResponse?
    /// The timings of the download, if there was one.
    public var metrics: DownloadMetrics? {
        get { timings?.value }
        set { timings = newValue.map { Shared($0) } }
    }
    /// Behind a reference, because results are copied often.
    private var timings: Shared<DownloadMetrics>?

    /// Creates a result with loaded bytes.
    public init(data: Data, response: HTTPResponse? = nil, metrics: DownloadMetrics? = nil) {
        self.data = data
        self.response = response
        self.metrics = metrics
    }

    /// Creates a result with an image that the loader made, in full size.
    ///
    /// - Parameters:
    ///   - image: the image.
    ///   - data: the same image encoded, if the loader has that, too.
    public init(image: Image, data: Data? = nil) {
        self.init(data: data ?? Data())
        self.image = image
    }

    /// Creates a result with a file that is read in parts.
    package init(byteSource: any ImageByteSource, response: HTTPResponse? = nil) {
        self.init(data: Data(), response: response)
        self.byteSource = byteSource
    }
}

/// A running load of a loader.
public protocol ImageLoaderOperation: WebImageOperation {
    /// Changes the priority of the load, also while it waits.
    func setPriority(_ priority: LoadPriority)
}

/// A loader of encoded images for URLs; ``WebImageDownloader`` is the library's implementation.
public protocol ImageLoading: AnyObject, Sendable {
    /// Returns whether this loader supports URLs like this one. Called on any thread.
    func canLoad(_ url: URL, options: WebImageOptions) -> Bool

    /// Returns whether this loader supports the request, for loaders that check more than the URL; called before each load. The
    /// default implementation calls ``canLoad(_:options:)``.
    func canLoad(_ request: ImageLoadRequest) -> Bool

    /// Starts a load. Called on any thread.
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

    /// Returns the header fields that a request will be sent with, as far as they are known in advance: a cache compares them with
    /// those of the request that it stored a response for (`Vary`), and obeys their cache directives. By default those of the
    /// request. Called on any thread, before loads that are not ``CachePolicy/immutable``: must be quick.
    func requestHeaders(for request: ImageLoadRequest) -> HTTPHeaders

    /// Returns whether a URL that failed with `error` should not be tried again until requested with
    /// ``WebImageOptions/retryFailed``. Called on any thread.
    func shouldBlockFailedURL(_ url: URL, error: WebImageError) -> Bool
}

extension ImageLoading {
    /// Returns the request's additional fields.
    public func requestHeaders(for request: ImageLoadRequest) -> HTTPHeaders { request.additionalHeaders }

    /// Returns whether the request's URL is supported.
    public func canLoad(_ request: ImageLoadRequest) -> Bool { canLoad(request.url, options: request.options) }
}
