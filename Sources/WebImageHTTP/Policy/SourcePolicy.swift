/// What a program allows the URLs that it loads, and what answers to them: for servers that load what strangers name.
///
/// ``untrusted`` refuses every address that is not one of the public internet, in every spelling and however it is come by, and
/// bounds everything that an answer can cost. Each connection is checked when it is made, against the very address that it is made
/// to, and so is every redirect: a name that means something else from one moment to the next gains nothing.
///
/// ```swift
/// var policy = SourcePolicy.untrusted
/// policy.allowed = [SourceRule("images.internal:8080")].compactMap { $0 }
/// policy.maximumByteCount = 8 << 20
/// let manager = WebImageManager(policy: policy)
/// ```
///
/// Refused sources end with ``WebImageError/Code/sourceRefused``, and the message says which address and which rule. It is meant for
/// the operator: who named the URL should not be told what the network looks like from inside.
public struct SourcePolicy: Sendable, Hashable {
    /// A scheme that URLs may have. Others are never loaded: neither files nor what a loader of one's own serves.
    public enum Scheme: String, Sendable, Hashable, CaseIterable {
        /// Plain HTTP.
        case http
        /// HTTP over TLS.
        case https
        /// The picture is part of the URL.
        case data
    }

    /// Everything is allowed: what programs want whose URLs are their own. All other properties are without effect.
    public static let trusted = SourcePolicy(isTrusted: true)
    /// Only pictures from the public internet, within bounds.
    public static let untrusted = SourcePolicy(isTrusted: false)

    /// Whether it is ``trusted``.
    public let isTrusted: Bool

    // MARK: Where

    /// The schemes. HTTP and HTTPS by default. A `data` URL may hold ``maximumByteCount`` bytes.
    public var schemes: Set<Scheme> = [.http, .https]
    /// The ports. 80 and 443 by default.
    public var ports: Set<Int> = [80, 443]
    /// Exceptions: sources that may be asked although their address, name or port is refused otherwise. Empty by default.
    ///
    /// A rule with a port lifts the restriction on ports for that one; a rule without one is about ``ports``. A rule with a
    /// host's name trusts whoever says what the name's address is. Addresses are compared with the one that is connected to.
    public var allowed: [SourceRule] = []
    /// Sources that are refused whatever else is said. Empty by default. Addresses also match where they are written into one of IPv6.
    public var denied: [SourceRule] = []
    /// If it is not nil, only these may be asked: everything else still holds for them. Nil by default.
    public var limitedTo: [SourceRule]?

    // MARK: How much

    /// Most bytes of a body; further attempts begin with none. 32 MiB by default.
    public var maximumByteCount = 32 << 20
    /// Most bytes of all response heads of an attempt, those of redirects and interim ones among them. 64 KiB by default.
    public var maximumHeaderByteCount = 64 << 10
    /// Most fields in all those heads. 100 by default.
    public var maximumHeaderCount = 100
    /// Most redirects. 5 by default. None of them leads from https to http.
    public var maximumRedirectCount = 5
    /// Seconds that a download may take, from its first request on: with redirects, hedges, further attempts and the waits between. 60 by
    /// default; 0 for no limit. What is no such number, NaN or one below 0, is taken for the default.
    public var maximumDuration: Double = 60 {
        didSet { if !(maximumDuration >= 0) { maximumDuration = 60 } }
    }
    /// Bytes that must come each second on average, measured over ``WebImageDownloaderConfig/downloadTimeout``. 1000 by default; 0 for
    /// what the config says.
    public var minimumBytesPerSecond = 1000

    // MARK: What

    /// The formats that a body may have, judged by its first bytes and not by what the server calls it. All that the library knows as
    /// pictures by default.
    public var formats: Set<ImageFormat> = Self.pictureFormats
    /// Formats that are decoded in worker processes. All formats by default; ``DecodeIsolation/riskyFormats`` leaves out JPEG, PNG, GIF, WebP,
    /// BMP and icons, which then have previews while they arrive. Without a worker program (``DecodeWorker``) images of these formats end
    /// with ``WebImageError/Code/decoderUnavailable``: nothing is decoded in this process instead.
    public var isolatedFormats: Set<ImageFormat> = Self.pictureFormats
    /// Most pixels of a picture, and of each frame. 50 million by default.
    public var maximumPixelCount = 50_000_000
    /// Most frames of an animation. 2000 by default.
    public var maximumFrameCount = 2000
    /// Seconds that the decode of one picture may take. 5 by default; 0 for no limit. What is no such number, NaN or one below 0, is taken
    /// for the default.
    public var maximumDecodeDuration: Double = 5 {
        didSet { if !(maximumDecodeDuration >= 0) { maximumDecodeDuration = 5 } }
    }

    private static let pictureFormats: Set<ImageFormat> = [
        .jpeg, .png, .gif, .webp, .bmp, .ico, .tiff, .svg, .heic, .heif, .avif, .jpegXL,
    ]
}
