import FoundationEssentials

extension SourcePolicy {
    /// Limits of decoding that are no higher than the policy's.
    ///
    /// - Parameter limits: those that hold in any case; the defaults unless told otherwise.
    public func limits(within limits: ImageLimits = ImageLimits()) -> ImageLimits {
        guard !isTrusted else { return limits }
        var limits = limits
        limits.maximumPixelCount = min(limits.maximumPixelCount, maximumPixelCount)
        limits.maximumFrameCount = min(limits.maximumFrameCount, maximumFrameCount)
        limits.maximumEncodedByteCount = min(limits.maximumEncodedByteCount, maximumByteCount)
        if maximumDecodeDuration > 0 {
            limits.maximumDecodeDuration = min(limits.maximumDecodeDuration ?? .infinity, maximumDecodeDuration)
        }
        return limits
    }

    /// The namespace of the cache that ``WebImageManager/init(policy:cache:config:)`` makes: policies that differ in whom they ask, or for which
    /// formats, share nothing, so that nobody is served what only another may fetch. "untrusted" with nothing but the defaults.
    public var cacheNamespace: String {
        guard !isTrusted else { return "default" }
        let plain = SourcePolicy.untrusted
        let isPlain =
            schemes == plain.schemes && ports == plain.ports && allowed.isEmpty && denied.isEmpty && limitedTo == nil
            && formats == plain.formats
        if isPlain { return "untrusted" }
        func text(_ rules: [SourceRule]?) -> String { rules?.map(\.description).sorted().joined(separator: ",") ?? "*" }
        let parts = [
            schemes.map(\.rawValue).sorted().joined(separator: ","),
            ports.sorted().map(String.init).joined(separator: ","),
            text(allowed), text(denied), text(limitedTo),
            // What only another may have decoded is not found.
            formats == plain.formats ? "*" : formats.map(\.rawValue).sorted().map(String.init).joined(separator: ","),
        ]
        return "untrusted-" + Hashing.md5Hex(parts.joined(separator: ";")).prefix(16)
    }
}

extension WebImageDownloaderConfig {
    /// The config within the bounds of its policy: what downloads are made with.
    package var withinPolicy: WebImageDownloaderConfig {
        let policy = sourcePolicy
        guard !policy.isTrusted else { return self }
        var config = self
        (config.urlCredential, config.username, config.password) = (nil, nil, nil)
        // A proxy finds hosts itself, and nobody checks where it connects to.
        config.proxy = .none
        // What a stranger's server sends lies on disk only once it is known to be a picture.
        config.partialDownloadDirectory = nil
        config.allowsInsecureRedirects = false
        config.maximumResponseByteCount = min(maximumResponseByteCount, policy.maximumByteCount)
        config.maximumResponseHeaderByteCount = min(maximumResponseHeaderByteCount, policy.maximumHeaderByteCount)
        config.maximumResponseHeaderCount = min(maximumResponseHeaderCount, policy.maximumHeaderCount)
        config.maximumRedirectCount = min(maximumRedirectCount, policy.maximumRedirectCount)
        config.minimumBytesPerSecond = max(minimumBytesPerSecond, policy.minimumBytesPerSecond)
        // One URL of a stranger must not close its host to the others.
        config.hostBackOff.askThreshold = .max
        let longest = policy.maximumDuration > 0 ? policy.maximumDuration : 60
        config.hostBackOff.maximumRetryAfter = min(hostBackOff.maximumRetryAfter, longest)
        if policy.maximumDuration > 0 {
            config.totalTimeout = totalTimeout > 0 ? min(totalTimeout, policy.maximumDuration) : policy.maximumDuration
        }
        return config
    }
}

extension HTTPTransferRequest {
    /// Bounds the request by a policy.
    mutating func apply(_ policy: SourcePolicy) {
        guard !policy.isTrusted else { return }
        sourcePolicy = policy
        credential = nil
        handlesCookies = false
        verifiesCertificates = true
        // What is silent, or slow, for as long as the whole may take has used it up.
        if policy.maximumDuration > 0 {
            connectTimeout = min(connectTimeout, policy.maximumDuration)
            idleTimeout = min(idleTimeout, policy.maximumDuration)
        }
        // Nothing is unpacked, so nothing can be small on the wire and huge afterwards.
        headers["Accept-Encoding"] = "identity"
    }
}
