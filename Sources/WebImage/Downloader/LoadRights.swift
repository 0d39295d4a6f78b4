import FoundationEssentials

/// With whose rights something is loaded, as a digest: a cache keeps what is answered to one user from others.
struct LoadRights: Sendable, Hashable {
    /// Nobody's.
    static let none = LoadRights(digest: nil, isKnown: true)

    /// Stands for the fields that say who asks, and for the credential; nil without any. Secrets are in keys, and on disk, only as this.
    let digest: String?
    /// Whether it is all that is sent, but for what a request modifier adds.
    let isKnown: Bool

    /// What key it makes of a URL's.
    func key(_ key: String) -> String { digest.map { key + Self.mark + $0 } ?? key }

    /// A space is in no URL; and what follows a "#" changes neither a key's extension nor its scale.
    static let mark = "# rights="

    /// How many downloaders and loaders may have rights of their own: as long as there are none, none is asked for them.
    private static let owners = Counter()
    static var mayBeOwned: Bool { owners.value > 0 }
    static func noteOwner() { owners.add() }

    /// Loaders that are not the library's may have fields of their own at any time.
    static func noteOwners(among loaders: [any ImageLoading]) {
        let isOwn = loaders.contains {
            !($0 is WebImageDownloader || $0 is FileImageLoader || $0 is DataURLImageLoader
                || $0 is ImageLoadersManager)
        }
        if isOwn { noteOwner() }
    }

    /// The digest of the fields that say who asks, in any order, and of a credential; nil without any.
    static func digest(of headers: HTTPHeaders, _ credential: WebImageCredential?) -> String? {
        var lines = headers.credentials.map { "\($0.name.lowercased()):\($0.value)\n" }
        if let credential {
            lines.append("\(credential.user.utf8.count) \(credential.user)\n\(credential.password)\n")
        }
        return lines.isEmpty ? nil : Hashing.md5Hex(lines.sorted().joined())
    }
}

extension ImageLoading {
    /// With whose rights a request is sent, as far as that is known before.
    func rights(for request: ImageLoadRequest) -> LoadRights {
        let isBuiltIn = self is ImageLoadersManager || self is WebImageDownloader || self is DownloaderCore
        if isBuiltIn, !LoadRights.mayBeOwned, request.additionalHeaders.fields.isEmpty { return .none }
        switch self {
        case let manager as ImageLoadersManager:
            return manager.loader(for: request)?.rights(for: request) ?? .none
        case let downloader as WebImageDownloader:
            return downloader.core.rights(for: request)
        case let core as DownloaderCore:
            return LoadRights(digest: core.rights(with: request.additionalHeaders), isKnown: true)
        case is FileImageLoader, is DataURLImageLoader:
            return .none
        default:
            return LoadRights(digest: LoadRights.digest(of: requestHeaders(for: request), nil), isKnown: false)
        }
    }
}

extension DownloaderCore {
    /// The digest of what is sent now for a request with these fields.
    func rights(with headers: HTTPHeaders) -> String? {
        let (own, credential, digest) = state.withLock { state in
            (headers.fields.isEmpty ? HTTPHeaders() : state.headers, state.config.value.credential, state.ownRights)
        }
        if headers.fields.isEmpty { return digest }
        return LoadRights.digest(of: own.overlaid(with: headers), credential)
    }
}

extension DownloaderState {
    /// To be called when fields or the credential have changed.
    mutating func updateRights() {
        ownRights = LoadRights.digest(of: headers, config.value.credential)
        if ownRights != nil { LoadRights.noteOwner() }
    }
}
