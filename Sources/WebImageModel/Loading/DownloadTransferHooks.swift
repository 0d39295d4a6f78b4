/// The user's hooks in one download.
package struct DownloadTransferHooks: Sendable {
    package var requestModifier: DownloadRequestModifier?
    package var responseModifier: DownloadResponseModifier?
    package var decryptor: DownloadDecryptor?
    package var redirectHandler: DownloadRedirectHandler?

    package init() {}

    /// Creates the hooks of a load's context.
    init(_ context: WebImageContext?) {
        guard let context else { return }
        requestModifier = context.downloadRequestModifier
        responseModifier = context.downloadResponseModifier
        decryptor = context.downloadDecryptor
        redirectHandler = context.redirectHandler
    }

    /// Returns these hooks, with those of `others` where one is missing.
    package func filled(from others: DownloadTransferHooks) -> DownloadTransferHooks {
        var result = self
        result.requestModifier = requestModifier ?? others.requestModifier
        result.responseModifier = responseModifier ?? others.responseModifier
        result.decryptor = decryptor ?? others.decryptor
        result.redirectHandler = redirectHandler ?? others.redirectHandler
        return result
    }

    /// The identity of the hooks for request coalescing: loads share a download only if it is equal.
    package var identity: LoadHooks? { LoadHooks(self, retryPolicy: nil) }
}

/// The identities of a load's hooks, for keys; the owner of the key must keep the objects alive.
package struct LoadHooks: Hashable, Sendable {
    private let requestModifier: ObjectIdentifier?
    private let responseModifier: ObjectIdentifier?
    private let decryptor: ObjectIdentifier?
    private let redirectHandler: ObjectIdentifier?
    /// The retry policy of the context.
    let retryPolicy: DownloadRetryPolicy?

    /// Returns nil if there are no hooks and no policy.
    init?(_ hooks: DownloadTransferHooks, retryPolicy: DownloadRetryPolicy?) {
        requestModifier = hooks.requestModifier.map { ObjectIdentifier($0) }
        responseModifier = hooks.responseModifier.map { ObjectIdentifier($0) }
        decryptor = hooks.decryptor.map { ObjectIdentifier($0) }
        redirectHandler = hooks.redirectHandler.map { ObjectIdentifier($0) }
        self.retryPolicy = retryPolicy
        let hasObject =
            requestModifier != nil || responseModifier != nil || decryptor != nil || redirectHandler != nil
        if !hasObject, retryPolicy == nil { return nil }
    }

    /// Creates the identities of the hooks of a load's context; nil if it has none.
    package init?(_ context: WebImageContext?) {
        guard let context, context.hasRareProperties else { return nil }
        self.init(DownloadTransferHooks(context), retryPolicy: context.retryPolicy)
    }
}
