extension WebImageDownloader {
    /// Changes what is sent for downloads whose context has no modifier of its own. Nil by default.
    ///
    /// Changing a hook of the downloader has effect for downloads that are asked for afterwards; they do not join those before.
    public var requestModifier: DownloadRequestModifier? {
        get { core.hooks.requestModifier }
        set { core.changeHooks { $0.requestModifier = newValue } }
    }

    /// Changes the responses of downloads whose context has no modifier of its own. Nil by default.
    public var responseModifier: DownloadResponseModifier? {
        get { core.hooks.responseModifier }
        set { core.changeHooks { $0.responseModifier = newValue } }
    }

    /// Decrypts the bodies of downloads whose context has no decryptor of its own. Nil by default.
    public var decryptor: DownloadDecryptor? {
        get { core.hooks.decryptor }
        set { core.changeHooks { $0.decryptor = newValue } }
    }

    /// Decides about the redirects of downloads whose context has no handler of its own. Nil, the default, follows those that the
    /// limits allow.
    public var redirectHandler: DownloadRedirectHandler? {
        get { core.hooks.redirectHandler }
        set { core.changeHooks { $0.redirectHandler = newValue } }
    }
}
