extension LoadRights {
    /// Notes that custom loaders are present, which may add header fields at any time.
    static func noteOwners(among loaders: [any ImageLoading]) {
        let isOwn = loaders.contains {
            !($0 is WebImageDownloader || $0 is FileImageLoader || $0 is DataURLImageLoader
                || $0 is ImageLoadersManager)
        }
        if isOwn { noteOwner() }
    }
}

extension ImageLoading {
    /// Returns the access rights with which a request will be sent, as far as they are known in advance.
    package func rights(for request: ImageLoadRequest) -> LoadRights {
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
    /// Returns the digest of what is sent now for a request with these fields.
    package func rights(with headers: HTTPHeaders) -> String? {
        let (own, credential, digest) = state.withLock { state in
            (headers.fields.isEmpty ? HTTPHeaders() : state.headers, state.config.value.credential, state.ownRights)
        }
        if headers.fields.isEmpty { return digest }
        return LoadRights.digest(of: own.overlaid(with: headers), credential)
    }
}

extension DownloaderState {
    /// Updates the digest. Must be called when header fields or the credential have changed.
    mutating func updateRights() {
        ownRights = LoadRights.digest(of: headers, config.value.credential)
        if ownRights != nil { LoadRights.noteOwner() }
    }
}
