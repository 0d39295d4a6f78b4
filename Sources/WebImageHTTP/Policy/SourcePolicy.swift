/// Restricts the sources that a program loads from, and the cost of their responses: for servers that load URLs from untrusted
/// users.
///
/// ``untrusted`` refuses every address outside the public internet, in every notation and on every path to it, and limits every
/// cost of a response. Each connection is checked when it is opened, against its actual address, and so is every redirect: DNS
/// rebinding gains nothing.
///
/// ```swift
/// var policy = SourcePolicy.untrusted
/// policy.allowed = [SourceRule("images.internal:8080")].compactMap { $0 }
/// policy.maximumByteCount = 8 << 20
/// let manager = WebImageManager(policy: policy)
/// ```
///
/// Loads from refused sources end with ``WebImageError/Code/sourceRefused``; the message contains the address and the rule. It is
/// meant for the operator: do not return it to the user who sent the URL, because it describes the internal network.
public struct SourcePolicy: Sendable, Hashable {
    /// A URL scheme. Other schemes are never loaded, neither files nor those of a custom loader.
    public enum Scheme: String, Sendable, Hashable, CaseIterable {
        /// Plain HTTP.
        case http
        /// HTTP over TLS.
        case https
        /// The image is part of the URL.
        case data
    }

    /// Allows everything: for programs that load only their own URLs. All other properties have no effect.
    public static let trusted = SourcePolicy(isTrusted: true)
    /// Allows only images from the public internet, with limits.
    public static let untrusted = SourcePolicy(isTrusted: false)

    /// A Boolean value that indicates whether the policy is ``trusted``.
    package let isTrusted: Bool

    // MARK: Sources

    /// The allowed schemes. HTTP and HTTPS by default. A `data` URL may contain ``maximumByteCount`` bytes.
    public var schemes: Set<Scheme> = [.http, .https]
    /// The allowed ports. 80 and 443 by default.
    public var ports: Set<Int> = [80, 443]
    /// Exceptions: sources that are allowed although their address, name or port would be refused. Empty by default.
    ///
    /// A rule with a port allows that port; a rule without one applies to ``ports``. A rule with a host name trusts DNS for the
    /// name's address. Address rules are compared with the address of the connection.
    public var allowed: [SourceRule] = []
    /// Sources that are refused regardless of all other rules. Empty by default. Addresses also match where they are embedded in an
    /// IPv6 address.
    public var denied: [SourceRule] = []
    /// If not nil, only these sources are allowed, and all other rules still apply to them. Nil by default.
    public var limitedTo: [SourceRule]?

    // MARK: Limits

    /// The maximum number of bytes of a body; further attempts start from zero. 32 MiB by default.
    public var maximumByteCount = 32 << 20
    /// The maximum number of bytes of all response heads of an attempt, including redirects and interim responses. 64 KiB by
    /// default.
    public var maximumHeaderByteCount = 64 << 10
    /// The maximum number of fields in all those heads. 100 by default.
    public var maximumHeaderCount = 100
    /// The maximum number of redirects. 5 by default. Redirects from https to http are never followed.
    public var maximumRedirectCount = 5
    /// The time limit of a download, in seconds, from its first request: including redirects, hedges, retries and the waits between
    /// them. 60 by default; 0 for none. Negative values and NaN are replaced by the default.
    public var maximumDuration: Double = 60 {
        didSet { if !(maximumDuration >= 0) { maximumDuration = 60 } }
    }
    /// The minimum transfer rate in bytes per second, averaged over ``WebImageDownloaderConfig/downloadTimeout``. 1000 by default;
    /// 0 for the config's value.
    public var minimumBytesPerSecond = 1000

    // MARK: Formats and decoding

    /// The accepted formats, detected from a body's first bytes and not from the server's content type. All image formats that the
    /// library knows by default; PDF, videos and the raw files of cameras only if you add them.
    public var formats: Set<ImageFormat> = Self.imageFormats
    /// The formats that are decoded in worker processes. All formats by default; ``DecodeIsolation/riskyFormats`` leaves out JPEG,
    /// PNG, GIF, WebP, BMP and icons, which then have previews while they arrive. Without a worker program (``DecodeWorker``),
    /// images of these formats fail with ``WebImageError/Code/decoderUnavailable``: there is no fallback to decoding in this
    /// process.
    public var isolatedFormats: Set<ImageFormat> = Self.imageFormats.union(ImageFormat.videos).union([.pdf, .raw])
    /// The maximum number of pixels of an image, and of each frame. 50 million by default.
    public var maximumPixelCount = 50_000_000
    /// The maximum number of frames of an animation. 2000 by default.
    public var maximumFrameCount = 2000
    /// The time limit for decoding one image, in seconds. 5 by default; 0 for none. Negative values and NaN are replaced by the
    /// default.
    public var maximumDecodeDuration: Double = 5 {
        didSet { if !(maximumDecodeDuration >= 0) { maximumDecodeDuration = 5 } }
    }

    private static let imageFormats: Set<ImageFormat> = [
        .jpeg, .png, .gif, .webp, .bmp, .ico, .tiff, .svg, .heic, .heif, .avif, .jpegXL,
    ]
}
