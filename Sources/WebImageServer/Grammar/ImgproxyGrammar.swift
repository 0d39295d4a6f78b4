/// The settings of imgproxy's URLs, each that of imgproxy with the same name. The defaults are imgproxy's.
public struct ImgproxySettings: Sendable, Hashable {
    /// The keys and salts, each of which can sign; without any, every signature is valid.
    public var keys: [SignatureKey] = []
    /// The number of bytes of a signature that are compared, 1...32; 32 by default.
    public var signatureSize = 32
    /// Texts that are accepted instead of a signature.
    public var trustedSignatures: [String] = []
    /// Named lists of options as `NAME=OPTIONS`; the one named `default` is applied to all requests. Empty ones and those that begin
    /// with `#` are ignored, as in files.
    public var presets: [String] = []
    /// Indicates whether the path contains names of presets instead of options.
    public var onlyPresets = false
    /// The text in front of all sources that do not begin with it.
    public var baseURL = ""
    /// The beginnings of sources that are allowed, in which `*` stands for any characters but `/`; without any, all are.
    public var allowedSources: [String] = []
    /// The replaced beginnings of sources, applied in this order before the base URL.
    package var replacements: [URLReplacement] = []
    /// The names of options that paths may contain, as written there; without any, all are allowed. Presets may contain all.
    package var allowedOptions: [String] = []
    /// Indicates whether paths may contain limits (`max_src_resolution` and so on).
    package var allowsLimits = false
    /// The text between an option's name and its arguments; `:` by default.
    package var argumentSeparator = ":"
    /// Indicates whether a component follows base64 sources that means nothing (a file name for search engines).
    package var base64IncludesFilename = false
    /// The first components of all paths, such as `/images`, without a slash at the end; none by default.
    public var pathPrefix = ""

    /// Creates imgproxy's defaults.
    public init() {}
}

/// imgproxy's URLs: `/SIGNATURE/OPTIONS/SOURCE`, for example `/SIGNATURE/rs:fill:300:200/plain/https://example.com/a.jpg@webp`.
///
/// All options of the open-source imgproxy 4 are parsed, with their short names. Options of imgproxy Pro, encrypted sources, chained
/// pipelines and the info endpoint are refused with status 422 and their name.
package struct ImgproxyGrammar: URLGrammar {
    package typealias Configuration = ImgproxySettings

    /// The longest path in bytes.
    static let maximumLength = 65_536
    /// The largest number of options that a request applies, counting those of presets within presets.
    static let maximumOptions = 16_384

    let configuration: Configuration
    let separator: [UInt8]
    private(set) var presets: [String: [ImgproxyArguments]] = [:]
    private let allowedSources: [URLPattern]
    private let allowedOptions: Set<String>

    /// Creates a grammar.
    ///
    /// - Throws: ``GrammarConfigurationError`` if the separator is empty, the signature size is not in 1...32, or a preset is invalid.
    package init(_ configuration: Configuration) throws(GrammarConfigurationError) {
        self.configuration = configuration
        separator = Array(configuration.argumentSeparator.utf8)
        allowedSources = configuration.allowedSources.map(URLPattern.init)
        allowedOptions = Set(configuration.allowedOptions)
        guard !separator.isEmpty else { throw GrammarConfigurationError("the separator of arguments is empty") }
        guard (1...32).contains(configuration.signatureSize) else {
            throw GrammarConfigurationError("the signature size must be 1 to 32")
        }
        for text in configuration.presets {
            guard let preset = try preset(text) else { continue }
            presets[preset.name] = preset.options
        }
        try checkPresets()
    }

    package var isRestricted: Bool { !configuration.keys.isEmpty || configuration.onlyPresets }

    package func request(
        forPath path: String,
        defaults: VariantOptions,
        now: Int64
    ) throws(ServerError) -> VariantRequest {
        guard path.utf8.count <= Self.maximumLength else { throw .tooLong }
        let path = try ImgproxyPath(path, prefix: configuration.pathPrefix)
        // Pro: /info/SIGNATURE/…
        if path.signature.elementsEqual("info".utf8) { throw .unsupportedOption("info") }
        try checkSignature(of: path)
        let components = URLBytes.parts(of: path.signed, separator: UInt8(ascii: "/"))
        var reader = ImgproxyReader(grammar: self, options: defaults, now: now)
        if presets["default"] != nil { try reader.apply(presets: ["default"]) }
        let sourceComponents: ArraySlice<ArraySlice<UInt8>>
        if configuration.onlyPresets {
            let names = URLBytes.parts(of: components[0], separator: separator)
            try reader.apply(presets: names.map { String(decoding: $0, as: UTF8.self) })
            sourceComponents = components.dropFirst()
        } else {
            // The syntax before options had names.
            if VariantResizingType(rawValue: String(decoding: components[0], as: UTF8.self)) != nil,
                components.count > 1
            {
                throw .invalidURL("the basic URL format")
            }
            let (options, rest) = options(in: components)
            for option in options {
                guard allowedOptions.isEmpty || allowedOptions.contains(option.name) else {
                    throw .forbiddenOption(option.name)
                }
                try reader.apply(option)
            }
            sourceComponents = rest
        }
        let source = try source(in: sourceComponents)
        if !reader.options.raw, let format = source.format {
            try reader.apply(ImgproxyArguments(name: "format", values: [format]))
        }
        try checkSource(source.url)
        return VariantRequest(source: source.url, options: reader.options)
    }

    /// Returns the components that are options, and those of the source: the first without an argument and all behind it.
    func options(
        in components: [ArraySlice<UInt8>]
    ) -> (options: [ImgproxyArguments], source: ArraySlice<ArraySlice<UInt8>>) {
        var options: [ImgproxyArguments] = []
        for (index, component) in components.enumerated() {
            let parts = URLBytes.parts(of: component, separator: separator).map { String(decoding: $0, as: UTF8.self) }
            guard parts.count > 1 else { return (options, components[index...]) }
            options.append(ImgproxyArguments(name: parts[0], values: Array(parts.dropFirst())))
        }
        return (options, [])
    }

    private func checkSignature(of path: ImgproxyPath) throws(ServerError) {
        guard !configuration.keys.isEmpty else {
            // A request for an unsigned URL whose first component was lost.
            if path.signature.contains(UInt8(ascii: ":")) {
                throw .invalidSignature("an option instead of a signature")
            }
            return
        }
        var isValid = false
        for trusted in configuration.trustedSignatures
        where MessageAuthentication.isEqual(path.signature, Array(trusted.utf8)) {
            isValid = true
        }
        if isValid { return }
        guard let code = URLBytes.base64Decoded(path.signature, allowsPadding: false) else {
            throw .invalidSignature("not base64")
        }
        let slash = path.signed.first == UInt8(ascii: "/") ? [] : [UInt8(ascii: "/")]
        for pair in configuration.keys {
            guard let whole = MessageAuthentication.sha256.code(of: pair.salt + slash + path.signed, key: pair.key)
            else {
                throw ServerError(status: 500, message: "Internal error", cause: "HMAC-SHA256 is not available")
            }
            if MessageAuthentication.isEqual(code, whole.prefix(configuration.signatureSize)) { isValid = true }
        }
        if !isValid { throw .invalidSignature("no key makes this signature") }
    }

    private func checkSource(_ url: String) throws(ServerError) {
        guard !allowedSources.isEmpty else { return }
        let bytes = Array(url.utf8)
        guard allowedSources.contains(where: { $0.matches(bytes) }) else { throw .forbiddenSource }
    }
}
