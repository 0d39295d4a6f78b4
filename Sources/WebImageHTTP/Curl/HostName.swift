import CIDN2
import FoundationEssentials

/// Host names outside ASCII. `URL` percent-encodes them, and libcurl reads them as the locale of the process says, if that says anything:
/// so it is given them as name services know them.
enum HostName {
    /// The URL's text with a percent-encoded host written out, in ASCII if it is a name; unchanged when there is none, or when what is
    /// encoded would change where the host ends.
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

/// Names of hosts outside ASCII as name services know them (IDNA 2008, with the mapping of UTS 46), by the library that libcurl asks.
enum InternationalName {
    /// The name in ASCII, mapped ones in lower case; itself if it is. Nil for what is no such name.
    ///
    /// Strict where names of 2003 were others: what is no name of today is none, so that there is one answer for each.
    static func ascii(_ name: String) -> String? {
        if name.utf8.allSatisfy({ $0 < 0x80 }) { return name }
        guard name.utf8.count <= longest, !name.utf8.contains(0) else { return nil }
        var output: UnsafeMutablePointer<CChar>?
        let flags = Int32(IDN2_NFC_INPUT.rawValue | IDN2_NONTRANSITIONAL.rawValue)
        guard idn2_to_ascii_8z(name, &output, flags) == IDN2_OK.rawValue, let output else { return nil }
        defer { idn2_free(output) }
        return String(validatingCString: output)
    }

    /// More bytes than those of any name, so that a long one takes no time.
    private static let longest = 1024
}
