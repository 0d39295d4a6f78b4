public import WebImage
public import WebImageFleet

/// The settings of an image server.
public struct ImageServerConfiguration: Sendable {
    /// The formats chosen by a client's `Accept` field, if the URL names no format.
    public enum Negotiation: String, Sendable, Hashable, CaseIterable {
        /// None: the format is that of the source. Answers have no `Vary`.
        case off
        /// The best of AVIF, JPEG XL and WebP that the client names. All answers have `Vary: Accept`.
        case vary
        /// The same, but the answer is a redirect to the URL with that format, for caches that ignore `Vary`: only the redirect depends on the
        /// client, and it may not be stored by shared caches.
        case redirect
    }

    /// The address of a server.
    public enum Address: Sendable, Hashable {
        /// An IPv4 or IPv6 address, and a port; 0 for any free one.
        case tcp(host: String, port: UInt16)
        /// A unix socket.
        case unix(path: String)
        /// A listening socket that another program has opened. The server owns it.
        case descriptor(Int32)
    }

    /// The place of a watermark.
    public enum Watermark: Sendable, Hashable {
        /// A file.
        case file(String)
        /// A URL.
        case url(String)
        /// The encoded image itself.
        case data([UInt8])
    }

    /// The address that the server listens on. `127.0.0.1:8080` by default.
    public var address = Address.tcp(host: "127.0.0.1", port: 8080)
    /// The syntax of URLs.
    package var grammar: any URLGrammar
    /// The rules and limits of what is loaded. ``SourcePolicy/untrusted`` by default, with ``DecodeIsolation/riskyFormats`` decoded in
    /// separate processes.
    public var policy: SourcePolicy
    /// The directory below which sources such as `local:///photos/a.jpg` are; nil, the default, for none.
    public var rootDirectory: String?
    /// The widths and heights in pixels that may be requested, with a resizing type, a gravity without offsets, and a format; nil, the default,
    /// for everything that the syntax allows.
    public var sizes: Set<Int>?
    /// Indicates whether the server starts although neither signatures, presets nor ``sizes`` limit what anybody may request, and with that the
    /// work and the disk that anybody may use. False by default.
    public var allowsAnyVariant = false
    /// The choice of formats. ``Negotiation/vary`` by default.
    public var negotiation = Negotiation.vary
    /// The formats that may be chosen. AVIF, JPEG XL and WebP by default.
    public var offeredFormats: Set<ImageFormat> = [.avif, .jpegXL, .webp]
    /// The image that requests with a watermark draw: the path of a file, or a URL that is loaded under ``policy``. It is loaded once, when the
    /// server starts. Nil, the default, for none: such requests are then answered with status 422.
    public var watermark: Watermark?
    /// The opacity that those of requests are multiplied by, 0...1. 1 by default.
    public var watermarkOpacity = 1.0
    /// The quality of JPEG, 1...100, if a URL has none. 80 by default.
    public var quality = 80
    /// The longest `max-age` of answers, in seconds. A year by default.
    public var maximumAge = 31_536_000.0
    /// The `max-age` of answers whose origin says nothing about it, in seconds. 60 by default.
    package var unknownLifetime = 60.0
    /// The bytes of encoded images in memory. 64 MiB by default.
    public var hotByteCount = 64 << 20
    /// The limit of decoded pixels in memory, in bytes; 0 for none. 512 MiB by default.
    public var memoryByteCount = 512 << 20
    /// The parent of the cache directory; nil for the default one.
    public var cacheDirectory: String?
    /// The bytes on disk. 1 GiB by default.
    public var cacheByteCount = 1 << 30
    /// The store in which several servers share originals and results; nil, the default, for none.
    public var remoteStore: RemoteImageStore?
    /// The seconds after which a client gets an error instead of its image. 10 by default.
    public var timeout = 10.0
    /// The number of downloads at a time. 64 by default.
    public var maximumDownloadCount = 64
    /// The number of different images of one host that are loaded at a time. 16 by default: an origin that hangs leaves room for others.
    public var maximumLoadCountPerHost = 16
    /// The number of requests that wait for images. 8000 by default.
    public var maximumWaitingCount = 8000
    /// The number of requests of one client that wait for images. 8000 by default: behind a proxy, all clients have its address.
    public var maximumWaitingCountPerClient = 8000
    /// The descriptor that the access log is written to; nil, the default, for none.
    public var logDescriptor: Int32?
    /// The number of connections. 10240 by default.
    public var maximumConnectionCount = 10240
    /// The number of threads that serve connections. 1 by default, 2 from four processors on.
    public var loopCount = CodingQueue.processorCount >= 4 ? 2 : 1

    /// Creates a configuration with the defaults, for imgproxy's URLs.
    ///
    /// - Parameter settings: The settings of the syntax.
    /// - Throws: ``GrammarConfigurationError`` if one of them is invalid.
    public init(imgproxy settings: ImgproxySettings) throws(GrammarConfigurationError) {
        self.init(grammar: try ImgproxyGrammar(settings))
    }

    /// Creates a configuration with the defaults, for thumbor's URLs.
    ///
    /// - Parameter settings: The settings of the syntax.
    public init(thumbor settings: ThumborSettings) { self.init(grammar: ThumborGrammar(settings)) }

    /// Creates a configuration with the defaults.
    ///
    /// - Parameter grammar: The syntax of URLs.
    package init(grammar: any URLGrammar) {
        self.grammar = grammar
        policy = .untrusted
        policy.isolatedFormats = DecodeIsolation.riskyFormats
    }
}
