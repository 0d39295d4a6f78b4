import FoundationEssentials

extension SourcePolicy {
    /// Returns decoding limits that are no higher than the policy's.
    ///
    /// - Parameter limits: limits that hold in any case; the defaults if omitted.
    package func limits(within limits: ImageLimits = ImageLimits()) -> ImageLimits {
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

    /// The cache namespace that ``WebImageManager/init(policy:cache:config:)`` uses: policies with different sources or formats
    /// share no entries, so that no caller gets an image that only another policy may fetch. "untrusted" if sources and formats
    /// have their defaults.
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
            // Images that only another policy may decode are not found.
            formats == plain.formats ? "*" : formats.map(\.rawValue).sorted().map(String.init).joined(separator: ","),
        ]
        return "untrusted-" + Hashing.md5Hex(parts.joined(separator: ";")).prefix(16)
    }
}

extension WebImageDownloaderConfig {
    /// The config with the limits of its policy applied; downloads use this one.
    package var withinPolicy: WebImageDownloaderConfig {
        let policy = sourcePolicy
        guard !policy.isTrusted else { return self }
        var config = self
        (config.urlCredential, config.username, config.password) = (nil, nil, nil)
        // A proxy resolves hosts itself, so its connections cannot be checked.
        config.proxy = .none
        // Data from an untrusted server is written to disk only after it is known to be an image.
        config.partialDownloadDirectory = nil
        config.allowsInsecureRedirects = false
        config.maximumResponseByteCount = min(maximumResponseByteCount, policy.maximumByteCount)
        config.maximumResponseHeaderByteCount = min(maximumResponseHeaderByteCount, policy.maximumHeaderByteCount)
        config.maximumResponseHeaderCount = min(maximumResponseHeaderCount, policy.maximumHeaderCount)
        config.maximumRedirectCount = min(maximumRedirectCount, policy.maximumRedirectCount)
        config.minimumBytesPerSecond = max(minimumBytesPerSecond, policy.minimumBytesPerSecond)
        // One untrusted URL must not block its host for the others.
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
    /// Applies a policy's limits to the request.
    mutating func apply(_ policy: SourcePolicy) {
        guard !policy.isTrusted else { return }
        sourcePolicy = policy
        credential = nil
        handlesCookies = false
        verifiesCertificates = true
        // A connection that is silent or slow for the maximum duration has used it up.
        if policy.maximumDuration > 0 {
            connectTimeout = min(connectTimeout, policy.maximumDuration)
            idleTimeout = min(idleTimeout, policy.maximumDuration)
        }
        // Without content coding, a body cannot be small on the wire and huge after decompression.
        headers["Accept-Encoding"] = "identity"
    }
}
