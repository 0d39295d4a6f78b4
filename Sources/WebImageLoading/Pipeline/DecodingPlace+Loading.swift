extension DecodingPlace {
    /// Returns the same place with workers that only loads of this policy use.
    package func within(_ policy: SourcePolicy) -> DecodingPlace {
        policy.isTrusted ? self : within(domain: policy.cacheNamespace)
    }
}

extension WebImageContext {
    /// Returns the coder for decoding and encoding without a manager.
    func coder() -> any ImageCoder {
        (decoding ?? .inProcess).coder(insteadOf: imageCoder ?? ImageCodersManager.shared)
    }
}
