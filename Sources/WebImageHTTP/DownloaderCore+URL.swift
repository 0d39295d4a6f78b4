import FoundationEssentials

/// Checks which requests can be sent at all.
extension DownloaderCore {
    static func problem(of request: ImageLoadRequest) -> WebImageError? {
        guard serves(request.url), let host = request.url.host(), !host.isEmpty,
            request.url.absoluteString.utf8.allSatisfy({ $0 > 32 && $0 != 127 })
        else {
            return WebImageError(.invalidURL, "the URL is not a well-formed http or https URL")
        }
        return request.additionalHeaders.fields.isEmpty ? nil : request.additionalHeaders.problem
    }

    /// Returns whether the URL's scheme is https.
    static func isSecure(_ url: URL) -> Bool { hasScheme(url.absoluteString, "https:") }

    /// Compares the text itself: parsing URLs is a tenth of the cost of a small download.
    private static func hasScheme(_ address: String, _ scheme: StaticString) -> Bool {
        scheme.withUTF8Buffer { address.utf8.prefix($0.count).elementsEqual($0) { $0 | 0x20 == $1 | 0x20 } }
    }

    /// Returns the text of a URL between "//" and the path, the query or the fragment; nil if there is no "//".
    static func authority(of address: String) -> Substring.UTF8View? {
        let bytes = address.utf8
        guard let range = bytes.withContiguousStorageIfAvailable(authorityRange) ?? nil else { return nil }
        let start = bytes.index(bytes.startIndex, offsetBy: range.lowerBound)
        return address[start..<bytes.index(start, offsetBy: range.count)].utf8
    }

    /// Returns whether the authority contains `byte`. Called for each download.
    static func authority(of address: String, contains byte: UInt8) -> Bool {
        address.utf8.withContiguousStorageIfAvailable { bytes in
            authorityRange(bytes).map { bytes[$0].contains(byte) }
        } == true
    }

    private static func authorityRange(_ bytes: UnsafeBufferPointer<UInt8>) -> Range<Int>? {
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes[colon...].starts(with: "://".utf8) else {
            return nil
        }
        let start = colon + 3
        let end = bytes[start...].firstIndex { byte in
            byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
        }
        return start..<(end ?? bytes.count)
    }

    /// Returns whether the URL's scheme is http or https.
    static func serves(_ url: URL) -> Bool {
        let address = url.absoluteString
        return hasScheme(address, "https:") || hasScheme(address, "http:")
    }

    /// Returns the error if a config's policy refuses the URL. The error does not contain the URL: for a redirect, it differs from
    /// the download's URL.
    func refusal(of url: URL, by config: ConfigSnapshot) -> WebImageError? {
        guard !config.isTrusted else { return nil }
        guard checksAddresses else {
            return WebImageError(.sourceRefused, SourceRefusal.unchecked.message())
        }
        var refusal = config.value.sourcePolicy.refusal(of: url)
        refusal?.url = nil
        return refusal
    }
}
