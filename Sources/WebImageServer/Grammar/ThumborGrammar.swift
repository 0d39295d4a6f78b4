/// The settings of thumbor's URLs.
public struct ThumborSettings: Sendable, Hashable {
    /// The keys, each of which can sign (thumbor's `SECURITY_KEY`).
    public var keys: [[UInt8]] = []
    /// Indicates whether `unsafe` is accepted instead of a signature; false by default, unlike thumbor's `ALLOW_UNSAFE_URL`.
    public var allowsUnsafe = false
    /// The text in front of sources without a scheme; `http://` by default, as in thumbor.
    package var defaultScheme = "http://"
    /// The beginnings of sources that are allowed, in which `*` stands for any characters but `/`; without any, all are.
    public var allowedSources: [String] = []
    /// The first components of all paths, such as `/images`, without a slash at the end; none by default.
    public var pathPrefix = ""

    /// Creates the defaults.
    public init() {}
}

/// thumbor's URLs: `/SIGNATURE/OPTIONS/SOURCE`, for example `/unsafe/300x200/smart/filters:quality(80)/https://example.com/a.jpg`.
///
/// Options stand in thumbor's order; what is none begins the source, as there. The metadata and debug endpoints and filters that this
/// server does not implement are refused with status 422 and their name.
package struct ThumborGrammar: URLGrammar {
    package typealias Configuration = ThumborSettings

    let configuration: Configuration
    private let allowedSources: [URLPattern]

    /// Creates a grammar.
    package init(_ configuration: Configuration) {
        self.configuration = configuration
        allowedSources = configuration.allowedSources.map(URLPattern.init)
    }

    package var isRestricted: Bool { !configuration.keys.isEmpty && !configuration.allowsUnsafe }

    package func request(
        forPath path: String,
        defaults: VariantOptions,
        now: Int64
    ) throws(ServerError) -> VariantRequest {
        guard path.utf8.count <= ImgproxyGrammar.maximumLength else { throw .tooLong }
        let (signature, signed) = try divided(path)
        try checkSignature(signature, of: signed)
        var reader = ThumborReader(signed[...], options: defaults)
        try reader.readOptions()
        let source = try source(reader.rest)
        try checkSource(source)
        return VariantRequest(source: source, options: reader.options)
    }

    func divided(_ target: String) throws(ServerError) -> (signature: [UInt8], signed: [UInt8]) {
        var rest = Array(target.utf8)[...]
        rest = rest.prefix { $0 != UInt8(ascii: "?") }
        let prefix = configuration.pathPrefix.utf8
        if !prefix.isEmpty {
            guard rest.starts(with: prefix), rest.dropFirst(prefix.count).first == UInt8(ascii: "/") else {
                throw .notFound
            }
            rest = rest.dropFirst(prefix.count)
        }
        if rest.first == UInt8(ascii: "/") { rest = rest.dropFirst() }
        guard let slash = rest.firstIndex(of: UInt8(ascii: "/")), slash > rest.startIndex,
            slash + 1 < rest.endIndex
        else { throw .invalidURL("no signature, or nothing follows it") }
        return (Array(rest[..<slash]), Array(rest[(slash + 1)...]))
    }

    private func checkSignature(_ signature: [UInt8], of signed: [UInt8]) throws(ServerError) {
        if signature.elementsEqual("unsafe".utf8) {
            guard configuration.allowsUnsafe else { throw .invalidSignature("unsafe URLs are not allowed") }
            return
        }
        guard let text = URLBytes.percentDecoded(signature),
            let code = URLBytes.base64Decoded(text, allowsPadding: true)
        else { throw .invalidSignature("not base64") }
        var isValid = false
        for key in configuration.keys {
            guard let whole = MessageAuthentication.sha1.code(of: signed, key: key) else {
                throw ServerError(status: 500, message: "Internal error", cause: "HMAC-SHA1 is not available")
            }
            if MessageAuthentication.isEqual(code, whole) { isValid = true }
        }
        if !isValid { throw .invalidSignature("no key makes this signature") }
    }

    private func source(_ encoded: ArraySlice<UInt8>) throws(ServerError) -> String {
        guard let bytes = URLBytes.percentDecoded(encoded) else {
            throw .invalidURL("invalid percent-encoding of the source")
        }
        guard !bytes.isEmpty, let text = URLBytes.text(bytes) else { throw .invalidURL("the source is no text") }
        let repaired = ImgproxyPath.repairedSource(bytes[...])
        if repaired.count != bytes.count { return String(decoding: repaired, as: UTF8.self) }
        return text.contains("://") ? text : configuration.defaultScheme + text
    }

    private func checkSource(_ url: String) throws(ServerError) {
        guard !allowedSources.isEmpty else { return }
        let bytes = Array(url.utf8)
        guard allowedSources.contains(where: { $0.matches(bytes) }) else { throw .forbiddenSource }
    }
}
