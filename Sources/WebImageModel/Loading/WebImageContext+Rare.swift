extension WebImageContext {
    /// A hint about the format of the bytes.
    public enum FormatHint: Sendable, Hashable {
        /// The hint of the decode options.
        case inherited
        /// None, whatever the decode options contain.
        case none
        /// This one.
        case format(ImageFormat)
    }

    /// The properties that few loads set. Immutable: a change creates another instance.
    package final class Rare: Sendable {
        package struct Values: Sendable {
            var decodeOptions: ImageDecodeOptions?
            var encodeOptions: ImageEncodeOptions?
            var formatHint = FormatHint.inherited
            var decodeToHDR: Bool?
            var page: Int?
            var rawDevelopment: ImageDecodeOptions.RawDevelopment?
            var videoTime: Double?
            var decoding: DecodingPlace?
            var loadValues = OptionValues()
            var additionalHeaders = HTTPHeaders()
            var cacheSerializer: CacheSerializer?
            var cachePolicy: CachePolicy?
            var setImageOperationKey: String?
            package var hooks = DownloadTransferHooks()
            package var retryPolicy: DownloadRetryPolicy?
            package var observer: (any WebImageLoadObserver)?
            var own: [ObjectIdentifier: any Sendable] = [:]

            /// Indicates whether no property is set.
            var isPlain: Bool {
                decodeOptions == nil && encodeOptions == nil && formatHint == .inherited && decodeToHDR == nil
                    && page == nil && videoTime == nil && rawDevelopment == nil && decoding == nil
                    && loadValues.isEmpty && additionalHeaders.fields.isEmpty && cacheSerializer == nil
                    && cachePolicy == nil && setImageOperationKey == nil && hooks.identity == nil && retryPolicy == nil
                    && observer == nil
                    && own.isEmpty
            }
        }

        package let values: Values
        init(_ values: Values) { self.values = values }
    }

    /// Indicates whether any of the properties in ``rare`` is set.
    package var hasRareProperties: Bool { rare != nil }

    private mutating func change(_ body: (inout Rare.Values) -> Void) {
        var values = rare?.values ?? Rare.Values()
        body(&values)
        rare = values.isPlain ? nil : Rare(values)
    }
}

extension WebImageContext {
    /// The base decode options; the properties of the context override them.
    public var decodeOptions: ImageDecodeOptions? {
        get { rare?.values.decodeOptions }
        set { change { $0.decodeOptions = newValue } }
    }

    /// The options for encoding in the cache.
    public var encodeOptions: ImageEncodeOptions? {
        get { rare?.values.encodeOptions }
        set { change { $0.encodeOptions = newValue } }
    }

    /// The declared format of the bytes, for coders of formats that cannot be detected from the bytes. By default that of the
    /// decode options; the built-in coders trust only the bytes.
    public var formatHint: FormatHint {
        get { rare?.values.formatHint ?? .inherited }
        set { change { $0.formatHint = newValue } }
    }

    /// Indicates whether images of high dynamic range keep it; see ``ImageDecodeOptions/decodeToHDR``. By default the decode
    /// options decide.
    public var decodeToHDR: Bool? {
        get { rare?.values.decodeToHDR }
        set { change { $0.decodeToHDR = newValue } }
    }

    /// The page to decode, counted from 0, as ``ImageDecodeOptions/page``; nil, the default, for the first. Each page has a separate cache
    /// key (``CacheKeys/page(_:_:)``); the file is downloaded once.
    public var page: Int? {
        get { rare?.values.page }
        set { change { $0.page = newValue } }
    }

    /// The image that is decoded of a camera's raw file, as ``ImageDecodeOptions/rawDevelopment``; nil, the default, for the embedded
    /// preview. A developed image has a separate cache key (``CacheKeys/developed(_:_:)``); the file is downloaded once.
    public var rawDevelopment: ImageDecodeOptions.RawDevelopment? {
        get { rare?.values.rawDevelopment }
        set { change { $0.rawDevelopment = newValue } }
    }

    /// The time in seconds of the frame to decode of a video, as ``ImageDecodeOptions/videoTime``; nil, the default, for the first frame that is
    /// not black. Each time has a separate cache key (``CacheKeys/videoTime(_:_:)``).
    public var videoTime: Double? {
        get { rare?.values.videoTime }
        set { change { $0.videoTime = newValue.flatMap { $0.isFinite ? max($0, 0) : nil } } }
    }

    /// The place where the image is decoded: in this process or in sandboxed workers without files and network and with bounded
    /// memory. The manager's place by default (``WebImageManager/decoding``).
    ///
    /// Workers decode with their own coders, whatever ``imageCoder`` is; it is used only to encode, and for formats that are not
    /// isolated. There are no previews of isolated images while they download. Custom loaders that decode images do not receive
    /// this setting.
    public var decoding: DecodingPlace? {
        get { rare?.values.decoding }
        set { change { $0.decoding = newValue } }
    }

    /// The rule for how long a cached image is used, and when it is revalidated. The manager's by default
    /// (``WebImageManager/cachePolicy``).
    ///
    /// Under ``CachePolicy/http`` the directives of a `Cache-Control` among the ``additionalHeaders`` count, too: `no-cache`,
    /// `no-store`, `max-age`, `max-stale`, `min-fresh` and `only-if-cached`.
    public var cachePolicy: CachePolicy? {
        get { rare?.values.cachePolicy }
        set { change { $0.cachePolicy = newValue } }
    }

    /// Options for custom loaders. Loads with different ones do not share a download.
    public var loadValues: OptionValues {
        get { rare?.values.loadValues ?? OptionValues() }
        set { change { $0.loadValues = newValue } }
    }

    /// Header fields of this load's request, in place of the downloader's fields of the same names. Loads with different ones do
    /// not share a download; but the caches identify the image only by its URL, unless a ``cacheKeyFilter`` changes the key.
    public var additionalHeaders: HTTPHeaders {
        get { rare?.values.additionalHeaders ?? HTTPHeaders() }
        set { change { $0.additionalHeaders = newValue } }
    }

    /// Produces the bytes to write to disk. None by default.
    public var cacheSerializer: CacheSerializer? {
        get { rare?.values.cacheSerializer }
        set { change { $0.cacheSerializer = newValue } }
    }

    /// The key that identifies a load within a view: a new load cancels the one with the same key. Used by views; the manager
    /// ignores it.
    public var setImageOperationKey: String? {
        get { rare?.values.setImageOperationKey }
        set { change { $0.setImageOperationKey = newValue } }
    }

    /// Modifies requests, in place of the downloader's modifier.
    public var downloadRequestModifier: DownloadRequestModifier? {
        get { rare?.values.hooks.requestModifier }
        set { change { $0.hooks.requestModifier = newValue } }
    }

    /// Modifies responses, in place of the downloader's modifier.
    public var downloadResponseModifier: DownloadResponseModifier? {
        get { rare?.values.hooks.responseModifier }
        set { change { $0.hooks.responseModifier = newValue } }
    }

    /// Converts a downloaded body into the bytes of an image, in place of the downloader's decryptor.
    public var downloadDecryptor: DownloadDecryptor? {
        get { rare?.values.hooks.decryptor }
        set { change { $0.hooks.decryptor = newValue } }
    }

    /// Decides on redirects, in place of the downloader's handler.
    public var redirectHandler: DownloadRedirectHandler? {
        get { rare?.values.hooks.redirectHandler }
        set { change { $0.hooks.redirectHandler = newValue } }
    }

    /// The retry policy for failed downloads, in place of the one in the downloader's config.
    public var retryPolicy: DownloadRetryPolicy? {
        get { rare?.values.retryPolicy }
        set { change { $0.retryPolicy = newValue } }
    }

    /// Receives all events of this load, as the manager's observer does.
    public var observer: (any WebImageLoadObserver)? {
        get { rare?.values.observer }
        set { change { $0.observer = newValue } }
    }

    /// The value of a custom key.
    public subscript<Key: WebImageContextKey>(_ key: Key.Type) -> Key.Value {
        get {
            // Two steps, because with an optional value type a missing value would be taken for nil.
            guard let value = rare?.values.own[ObjectIdentifier(key)] else { return Key.defaultValue }
            return value as? Key.Value ?? Key.defaultValue
        }
        set { change { _ = $0.own.updateValue(newValue, forKey: ObjectIdentifier(key)) } }
    }

    /// The part of the context that loaders may see: the hooks and the retry policy, and nothing in which loads that share a
    /// download could differ. No cache, loader, observer or queue, so that there is no retain cycle. Nil if nothing remains.
    package var reducedForLoader: WebImageContext? {
        guard let rare else { return nil }
        var values = Rare.Values()
        values.hooks = rare.values.hooks
        values.retryPolicy = rare.values.retryPolicy
        guard !values.isPlain else { return nil }
        return WebImageContext(Rare(values))
    }

    /// Creates a context with only these properties.
    package init(_ rare: Rare) {
        self.init()
        self.rare = rare
    }
}
