extension ImgproxyGrammar {
    /// Returns the source that the last components of a path name, with replacements and base URL, and the extension behind it.
    func source(
        in components: ArraySlice<ArraySlice<UInt8>>
    ) throws(ServerError) -> (url: String, format: String?) {
        guard let first = components.first else { throw .invalidURL("no source") }
        if first.elementsEqual("plain".utf8), components.count > 1 {
            return try plainSource(in: components.dropFirst())
        }
        // Pro: encrypted sources, and pipelines one behind the other.
        if first.elementsEqual("enc".utf8), components.count > 1 { throw .unsupportedOption("enc") }
        if first.elementsEqual("-".utf8) { throw .unsupportedOption("-") }
        return try base64Source(in: components)
    }

    /// `https://example.com/a.jpg@webp`, percent-encoded where it contains `?`, `%` or `@`.
    private func plainSource(
        in components: ArraySlice<ArraySlice<UInt8>>
    ) throws(ServerError) -> (url: String, format: String?) {
        let encoded = Array(components.joined(separator: CollectionOfOne(UInt8(ascii: "/"))))
        let (address, format) = try divided(encoded[...], at: UInt8(ascii: "@"))
        guard let url = URLBytes.percentDecoded(address) else {
            throw .invalidURL("invalid percent-encoding of the source")
        }
        return (try completed(url), format)
    }

    /// Base64 with slashes anywhere, and `.webp` behind it.
    private func base64Source(
        in components: ArraySlice<ArraySlice<UInt8>>
    ) throws(ServerError) -> (url: String, format: String?) {
        let hasFilename = configuration.base64IncludesFilename && components.count > 1
        let encoded = Array((hasFilename ? components.dropLast() : components).joined())
        let (text, format) = try divided(encoded[...], at: UInt8(ascii: "."))
        guard let url = URLBytes.base64Decoded(text, allowsPadding: true) else {
            throw .invalidURL("invalid base64 of the source")
        }
        return (try completed(url), format)
    }

    private func divided(
        _ text: ArraySlice<UInt8>,
        at separator: UInt8
    ) throws(ServerError) -> (address: ArraySlice<UInt8>, format: String?) {
        let parts = URLBytes.parts(of: text, separator: separator)
        guard !parts[0].isEmpty else { throw .invalidURL("the source is empty") }
        guard parts.count <= 2 else { throw .invalidURL("two formats behind the source") }
        guard parts.count == 2, !parts[1].isEmpty else { return (parts[0], nil) }
        return (parts[0], String(decoding: parts[1], as: UTF8.self))
    }

    private func completed(_ url: [UInt8]) throws(ServerError) -> String {
        var url = configuration.replacements.reduce(url) { $1.applied(to: $0) }
        let base = configuration.baseURL.utf8
        if !url.starts(with: base) { url = Array(base) + url }
        guard !url.isEmpty, let text = URLBytes.text(url) else { throw .invalidURL("the source is not text") }
        return text
    }
}
