/// The user's hooks in one download.
package struct DownloadTransferHooks: Sendable {
    package var requestModifier: DownloadRequestModifier?
    package var responseModifier: DownloadResponseModifier?
    package var decryptor: DownloadDecryptor?
    package var redirectHandler: DownloadRedirectHandler?

    package init() {}

    /// Those of a load's context.
    init(_ context: WebImageContext?) {
        guard let context else { return }
        requestModifier = context.downloadRequestModifier
        responseModifier = context.downloadResponseModifier
        decryptor = context.downloadDecryptor
        redirectHandler = context.redirectHandler
    }

    /// These, with `others` where there is none.
    package func filled(from others: DownloadTransferHooks) -> DownloadTransferHooks {
        var result = self
        result.requestModifier = requestModifier ?? others.requestModifier
        result.responseModifier = responseModifier ?? others.responseModifier
        result.decryptor = decryptor ?? others.decryptor
        result.redirectHandler = redirectHandler ?? others.redirectHandler
        return result
    }

    /// Tells hooks apart: loads share a download only if it is equal.
    package var identity: LoadHooks? { LoadHooks(self, retryPolicy: nil) }
}

/// Which hooks a load has, for keys: the identities of the objects, which whoever has the key must keep alive.
package struct LoadHooks: Hashable, Sendable {
    private let requestModifier: ObjectIdentifier?
    private let responseModifier: ObjectIdentifier?
    private let decryptor: ObjectIdentifier?
    private let redirectHandler: ObjectIdentifier?
    /// The context's own policy.
    let retryPolicy: DownloadRetryPolicy?

    /// Nil when there are none.
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

    /// Those of a load's context; nil when there are none.
    package init?(_ context: WebImageContext?) {
        guard let context, context.hasRareProperties else { return nil }
        self.init(DownloadTransferHooks(context), retryPolicy: context.retryPolicy)
    }
}
