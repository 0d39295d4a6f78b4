import FoundationEssentials

extension ImageLoading {
    /// Returns whether the images that this loader now loads may be given to other machines: it is the library's downloader, has no
    /// credentials, and no hook changes what it sends or receives.
    package var loadsForEveryone: Bool {
        switch self {
        case let downloader as WebImageDownloader: downloader.core.loadsForEveryone
        case let core as DownloaderCore:
            core.state.withLock { $0.ownRights == nil && $0.hooks.identity == nil }
        default: false
        }
    }
}

extension SourcePolicy {
    /// The name of the group of managers that may share images over machines: their policies allow the same sources.
    package var sharingScope: String {
        guard !isTrusted else { return "trusted" }
        var lines = [schemes.map(\.rawValue).sorted().joined(separator: " ")]
        lines.append(ports.sorted().map(String.init).joined(separator: " "))
        for rules in [allowed, denied, limitedTo ?? []] { lines.append(rules.map { "\($0)" }.joined(separator: " ")) }
        lines.append(limitedTo == nil ? "any" : "limited")
        return "untrusted " + Hashing.md5Hex(lines.joined(separator: "\n"))
    }
}

extension HTTPResponse {
    /// Indicates whether the response may be given to other users and machines, as by a shared cache, or stricter: it is a complete
    /// image, nothing in the request told users apart, and neither the response nor a redirect to it is private or sets a cookie.
    package var isForEveryone: Bool { isForEveryone(withStatus: 200) }

    /// The same for a response with another status: 304 confirms an image.
    package func isForEveryone(withStatus status: Int) -> Bool {
        guard statusCode == status, let exchange, let rights = exchange.rights, rights.digest == nil,
            exchange.requestHeaders.credentials.isEmpty, url.user == nil, url.password == nil,
            ["http", "https"].contains(url.scheme?.lowercased())
        else { return false }
        return ([headers] + exchange.redirects.map(\.headers)).allSatisfy { headers in
            let control = HTTPCacheControl(headers)
            guard !control.says(.isPrivate), !control.says(.noStore), headers["Set-Cookie"] == nil else { return false }
            let names = headers.listedNames(of: "Vary")
            var varying = HTTPHeaders()
            for name in names { varying.add(name: name, value: "") }
            return !names.contains("*") && varying.credentials.isEmpty
        }
    }
}
