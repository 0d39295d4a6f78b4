import CIDN2

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
