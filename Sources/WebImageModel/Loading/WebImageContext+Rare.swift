extension WebImageContext {
    /// A hint of the format of the bytes.
    public enum FormatHint: Sendable, Hashable {
        /// What the decode options say.
        case inherited
        /// None, whatever the decode options say.
        case none
        /// This one.
        case format(ImageFormat)
    }

    /// The properties that few loads give. Never changed: a change makes another one.
    package final class Rare: Sendable {
        package struct Values: Sendable {
            var decodeOptions: ImageDecodeOptions?
            var encodeOptions: ImageEncodeOptions?
            var formatHint = FormatHint.inherited
            var decodeToHDR: Bool?
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

            /// Whether nothing is given.
            var isPlain: Bool {
                decodeOptions == nil && encodeOptions == nil && formatHint == .inherited && decodeToHDR == nil
                    && decoding == nil
                    && loadValues.isEmpty && additionalHeaders.fields.isEmpty && cacheSerializer == nil
                    && cachePolicy == nil && setImageOperationKey == nil && hooks.identity == nil && retryPolicy == nil
                    && observer == nil
                    && own.isEmpty
            }
        }

        package let values: Values
        init(_ values: Values) { self.values = values }
    }

    /// Whether any property is given that lies behind ``rare``.
    package var hasRareProperties: Bool { rare != nil }

    private mutating func change(_ body: (inout Rare.Values) -> Void) {
        var values = rare?.values ?? Rare.Values()
        body(&values)
        rare = values.isPlain ? nil : Rare(values)
    }
}

extension WebImageContext {
    /// Base of the decode options; the properties of the context override it.
    public var decodeOptions: ImageDecodeOptions? {
        get { rare?.values.decodeOptions }
        set { change { $0.decodeOptions = newValue } }
    }

    /// How the cache encodes when it has to.
    public var encodeOptions: ImageEncodeOptions? {
        get { rare?.values.encodeOptions }
        set { change { $0.encodeOptions = newValue } }
    }

    /// The format that the bytes are said to have, for coders of formats whose bytes do not tell. What the decode options say
    /// by default; the built-in coders believe the bytes alone.
    public var formatHint: FormatHint {
        get { rare?.values.formatHint ?? .inherited }
        set { change { $0.formatHint = newValue } }
    }

    /// Whether pictures of high dynamic range keep it; see ``ImageDecodeOptions/decodeToHDR``. What the decode options say by
    /// default.
    public var decodeToHDR: Bool? {
        get { rare?.values.decodeToHDR }
        set { change { $0.decodeToHDR = newValue } }
    }

    /// Where the picture is decoded: in this process or in workers without files, network and much memory. The manager's place by default
    /// (``WebImageManager/decoding``).
    ///
    /// In workers their own coders decode, whatever ``imageCoder`` is: what that is for is encoding, and formats that are not isolated. There
    /// are no previews of an isolated picture while it arrives. Loaders of one's own that decode are not told of it.
    public var decoding: DecodingPlace? {
        get { rare?.values.decoding }
        set { change { $0.decoding = newValue } }
    }

    /// Who decides how long a cached picture serves, and when the server is asked for a newer one. The manager's by default
    /// (``WebImageManager/cachePolicy``).
    ///
    /// Under ``CachePolicy/http`` the directives of a `Cache-Control` among the ``additionalHeaders`` count, too: `no-cache`,
    /// `no-store`, `max-age`, `max-stale`, `min-fresh` and `only-if-cached`.
    public var cachePolicy: CachePolicy? {
        get { rare?.values.cachePolicy }
        set { change { $0.cachePolicy = newValue } }
    }

    /// Options for loaders of one's own. Loads with different ones do not share a download.
    public var loadValues: OptionValues {
        get { rare?.values.loadValues ?? OptionValues() }
        set { change { $0.loadValues = newValue } }
    }

    /// Header fields of this load's request, in place of the downloader's fields of the same names. Loads with different ones
    /// do not share a download; but the caches know the picture by its URL alone, unless a ``cacheKeyFilter`` says
    /// otherwise.
    public var additionalHeaders: HTTPHeaders {
        get { rare?.values.additionalHeaders ?? HTTPHeaders() }
        set { change { $0.additionalHeaders = newValue } }
    }

    /// Makes the bytes that go to disk. None by default.
    public var cacheSerializer: CacheSerializer? {
        get { rare?.values.cacheSerializer }
        set { change { $0.cacheSerializer = newValue } }
    }

    /// Tells loads of one view apart: a new load ends the one with the same key. Read by views; the manager ignores it.
    public var setImageOperationKey: String? {
        get { rare?.values.setImageOperationKey }
        set { change { $0.setImageOperationKey = newValue } }
    }

    /// Changes what is sent, in place of the downloader's own modifier.
    public var downloadRequestModifier: DownloadRequestModifier? {
        get { rare?.values.hooks.requestModifier }
        set { change { $0.hooks.requestModifier = newValue } }
    }

    /// Changes responses, in place of the downloader's own modifier.
    public var downloadResponseModifier: DownloadResponseModifier? {
        get { rare?.values.hooks.responseModifier }
        set { change { $0.hooks.responseModifier = newValue } }
    }

    /// Makes a picture's bytes of what was downloaded, in place of the downloader's own decryptor.
    public var downloadDecryptor: DownloadDecryptor? {
        get { rare?.values.hooks.decryptor }
        set { change { $0.hooks.decryptor = newValue } }
    }

    /// Decides on redirects, in place of the downloader's own handler.
    public var redirectHandler: DownloadRedirectHandler? {
        get { rare?.values.hooks.redirectHandler }
        set { change { $0.hooks.redirectHandler = newValue } }
    }

    /// Whether and when a failed download is tried again, in place of what the downloader's config says.
    public var retryPolicy: DownloadRetryPolicy? {
        get { rare?.values.retryPolicy }
        set { change { $0.retryPolicy = newValue } }
    }

    /// Hears of everything that happens in this load, as the manager's observer does.
    public var observer: (any WebImageLoadObserver)? {
        get { rare?.values.observer }
        set { change { $0.observer = newValue } }
    }

    /// A value of one's own.
    public subscript<Key: WebImageContextKey>(_ key: Key.Type) -> Key.Value {
        get {
            // Not in one expression: where the value is an optional, a missing one would pass for nil.
            guard let value = rare?.values.own[ObjectIdentifier(key)] else { return Key.defaultValue }
            return value as? Key.Value ?? Key.defaultValue
        }
        set { change { _ = $0.own.updateValue(newValue, forKey: ObjectIdentifier(key)) } }
    }

    /// What a loader may know of the context: the hooks and the retry policy, and nothing that loads which share a download
    /// could differ in. No cache, loader, observer or queue, so it makes no cycle. Nil when nothing is left.
    package var reducedForLoader: WebImageContext? {
        guard let rare else { return nil }
        var values = Rare.Values()
        values.hooks = rare.values.hooks
        values.retryPolicy = rare.values.retryPolicy
        guard !values.isPlain else { return nil }
        return WebImageContext(Rare(values))
    }

    /// A context with these properties alone.
    package init(_ rare: Rare) {
        self.init()
        self.rare = rare
    }
}
