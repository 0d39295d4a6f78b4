import CIDN2
import FoundationEssentials

/// Converts host names outside ASCII. `URL` percent-encodes them, and libcurl interprets them by the locale of the process, if it
/// is set. So libcurl gets them in their ASCII form (Punycode).
enum HostName {
    /// Returns the URL's text with a percent-encoded host decoded, in ASCII if it is a valid name; unchanged if no host is encoded,
    /// or if the decoded bytes would change where the host ends.
    static func address(of url: URL) -> String {
        let text = url.absoluteString
        guard DownloaderCore.authority(of: text, contains: UInt8(ascii: "%")), url.user() == nil,
            let encoded = url.host(percentEncoded: true),
            let host = url.host(percentEncoded: false), host.utf8.allSatisfy(isPlain),
            let range = text.firstRange(of: encoded)
        else { return text }
        let name = InternationalName.ascii(host)
        let written = name.flatMap { $0.utf8.allSatisfy { isPlain($0) && $0 < 0x80 } ? $0 : nil } ?? host
        return text[..<range.lowerBound] + written + text[range.upperBound...]
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        byte > 0x7F || (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
            || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "_")
    }
}

/// Converts host names outside ASCII to the form used in DNS (IDNA 2008, with the mapping of UTS 46), with the library that libcurl
/// uses.
enum InternationalName {
    /// Returns the name in ASCII, mapped names in lower case; an ASCII name unchanged. Nil if it is not a valid name.
    ///
    /// Strict where IDNA 2003 differs: a name that is invalid today is refused, so that each name has one answer.
    static func ascii(_ name: String) -> String? {
        if name.utf8.allSatisfy({ $0 < 0x80 }) { return name }
        guard name.utf8.count <= longest, !name.utf8.contains(0) else { return nil }
        var output: UnsafeMutablePointer<CChar>?
        let flags = Int32(IDN2_NFC_INPUT.rawValue | IDN2_NONTRANSITIONAL.rawValue)
        guard idn2_to_ascii_8z(name, &output, flags) == IDN2_OK.rawValue, let output else { return nil }
        defer { idn2_free(output) }
        return String(validatingCString: output)
    }

    /// More bytes than any name has, so that a long one takes no time.
    private static let longest = 1024
}
