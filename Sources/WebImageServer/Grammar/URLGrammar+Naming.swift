package import WebImage

extension ImgproxyGrammar {
    package func path(_ target: String, naming format: ImageFormat) -> String? {
        guard let name = FormatName.imgproxy[format],
            let path = try? ImgproxyPath(target, prefix: configuration.pathPrefix)
        else { return nil }
        let components = URLBytes.parts(of: path.signed, separator: UInt8(ascii: "/"))
        let source = configuration.onlyPresets ? components.dropFirst() : options(in: components).source
        guard let first = source.first, let last = source.last else { return nil }
        let isPlain = first.elementsEqual("plain".utf8) && source.count > 1
        let separator = UInt8(ascii: isPlain ? "@" : ".")
        var signed = path.signed
        var filename: [UInt8] = []
        if !isPlain, configuration.base64IncludesFilename, source.count > 1 {
            filename = [UInt8(ascii: "/")] + last
            signed.removeLast(filename.count)
        }
        // Leading slashes are removed when the path is divided, so they must not be signed.
        signed = Array(signed.drop { $0 == UInt8(ascii: "/") })
        // An empty format is none. Slashes within base64 mean nothing.
        if isPlain {
            if signed.last == separator { signed.removeLast() }
        } else {
            while signed.last == separator || signed.last == UInt8(ascii: "/") { signed.removeLast() }
        }
        signed += [separator] + Array(name.utf8) + filename
        guard let signature = signature(of: signed, like: path.signature) else { return nil }
        return FormatName.text(configuration.pathPrefix, signature, signed)
    }

    /// Signs with the first key; without keys, and for texts that are trusted, the signature stays.
    private func signature(of signed: [UInt8], like former: [UInt8]) -> [UInt8]? {
        let isTrusted = configuration.trustedSignatures.contains { former.elementsEqual($0.utf8) }
        guard let pair = configuration.keys.first, !isTrusted else { return former }
        let code = MessageAuthentication.sha256.code(of: pair.salt + [UInt8(ascii: "/")] + signed, key: pair.key)
        return code.map { URLBytes.base64Encoded($0.prefix(configuration.signatureSize), isPadded: false) }
    }
}

extension ThumborGrammar {
    package func path(_ target: String, naming format: ImageFormat) -> String? {
        guard let name = FormatName.thumbor[format], let (signature, signed) = try? divided(target) else { return nil }
        var reader = ThumborReader(signed[...], options: VariantOptions())
        guard (try? reader.readOptions()) != nil else { return nil }
        let filter = Array("filters:format(\(name))".utf8)
        let place = reader.filtersStart
        var named = Array(signed[..<place]) + filter
        if reader.rest.startIndex == place {
            named += [UInt8(ascii: "/")] + signed[place...]
        } else {
            named += [UInt8(ascii: ":")] + signed[place...].dropFirst("filters:".utf8.count)
        }
        if signature.elementsEqual("unsafe".utf8) { return FormatName.text(configuration.pathPrefix, signature, named) }
        guard let key = configuration.keys.first,
            let code = MessageAuthentication.sha1.code(of: named, key: key)
        else { return nil }
        let text = URLBytes.base64Encoded(code[...], isPadded: true)
        return FormatName.text(configuration.pathPrefix, text, named)
    }
}

/// The names of formats in URLs.
private enum FormatName {
    static let imgproxy: [ImageFormat: String] = [
        .avif: "avif", .jpegXL: "jxl", .webp: "webp", .jpeg: "jpg", .png: "png", .gif: "gif",
    ]
    static let thumbor: [ImageFormat: String] = [
        .avif: "avif", .webp: "webp", .jpeg: "jpeg", .png: "png", .gif: "gif",
    ]

    static func text(_ prefix: String, _ signature: [UInt8], _ signed: [UInt8]) -> String? {
        let path = [UInt8(ascii: "/")] + signature + [UInt8(ascii: "/")] + signed
        // It becomes a field of the answer.
        guard path.allSatisfy({ $0 > 32 && $0 < 127 }) else { return nil }
        return prefix + String(decoding: path, as: UTF8.self)
    }
}
