extension DecodingPlace {
    /// The same place with workers that only the loads of one policy have.
    package func within(_ policy: SourcePolicy) -> DecodingPlace {
        policy.isTrusted ? self : within(domain: policy.cacheNamespace)
    }
}

extension WebImageContext {
    /// What decodes and encodes where there is no manager that could say.
    func coder() -> any ImageCoder {
        (decoding ?? .inProcess).coder(insteadOf: imageCoder ?? ImageCodersManager.shared)
    }
}
