extension ImgproxyGrammar {
    /// Returns the name and the options of `NAME=OPTIONS`; nil for an empty text and a comment.
    func preset(
        _ text: String
    ) throws(GrammarConfigurationError) -> (name: String, options: [ImgproxyArguments])? {
        let text = Self.trimmed(Array(text.utf8)[...])
        guard let first = text.first, first != UInt8(ascii: "#") else { return nil }
        let sides = URLBytes.parts(of: text, separator: UInt8(ascii: "=")).map(Self.trimmed)
        let written = String(decoding: text, as: UTF8.self)
        guard sides.count == 2, !sides[0].isEmpty, !sides[1].isEmpty else {
            throw GrammarConfigurationError("the preset '\(written)' is not NAME=OPTIONS")
        }
        let (options, rest) = options(in: URLBytes.parts(of: sides[1], separator: UInt8(ascii: "/")))
        guard rest.isEmpty else {
            throw GrammarConfigurationError("the preset '\(written)' contains an option without arguments")
        }
        return (String(decoding: sides[0], as: UTF8.self), options)
    }

    /// Applies each preset once, so that an invalid one is found at the start.
    func checkPresets() throws(GrammarConfigurationError) {
        for name in presets.keys.sorted() {
            // A preset may have expired: its requests fail, but the server starts.
            var reader = ImgproxyReader(grammar: self, options: VariantOptions(), now: 0)
            do throws(ServerError) {
                try reader.apply(presets: [name])
            } catch {
                throw GrammarConfigurationError("preset '\(name)': \(error.message)")
            }
        }
    }

    private static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let start = bytes.drop { $0 == UInt8(ascii: " ") }
        guard let end = start.lastIndex(where: { $0 != UInt8(ascii: " ") }) else { return [] }
        return start[...end]
    }
}
