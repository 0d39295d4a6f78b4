import FoundationEssentials

/// The origin of a URL: scheme, host and port, as one text such as `https://example.com:8080`.
struct HostKey: Hashable, Sendable {
    private let text: String

    /// Nil if the URL has no host.
    init?(_ url: URL) {
        let address = url.absoluteString
        guard let authority = DownloaderCore.authority(of: address) else { return nil }
        let scheme = SourceTarget.scheme(of: address)
        let place = authority.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false).last
        var host = place.flatMap { String($0) }?.lowercased() ?? ""
        for end in [scheme == "https" ? ":443" : ":80", ":"] where host.hasSuffix(end) { host.removeLast(end.count) }
        guard !host.isEmpty else { return nil }
        text = "\(scheme)://\(host)"
    }
}
