public import WebImageCache

extension RemoteImageStore {
    /// Creates a store in a bucket of S3, or of a service with its interface. Nothing is sent before the first use.
    ///
    /// Objects have at most 64 MiB. They do not end by themselves: give the bucket a rule that removes old ones (`wi1/` below the prefix).
    /// Machines do not wait for each other, as they do with Redis. The user needs `s3:GetObject`, `s3:PutObject`, `s3:DeleteObject`, and
    /// `s3:ListBucket`, without which S3 does not say whether an object is missing.
    ///
    /// Credentials are looked for in the environment (`AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN`), in the shared
    /// credentials file (with `AWS_PROFILE`), at the agent of a container, and at the metadata service of an instance (version 2), and
    /// are renewed before they end. The environment is read by this call.
    ///
    /// - Parameters:
    ///   - url: `s3://bucket[/prefix][?endpoint=URL&region=NAME&style=path|virtual]`. Endpoint and region are those of the
    ///     environment (`AWS_ENDPOINT_URL_S3`, `AWS_REGION`) by default, else AWS in `us-east-1`. The style is `path` by default if there is
    ///     an endpoint or if the bucket contains a dot.
    ///   - timeout: the time in seconds after which a read whose response has not begun counts as a miss; a response must then
    ///     arrive with 4 MiB per second. 0.2 by default.
    /// - Throws: ``WebImageError/Code/invalidURL`` for another URL.
    public init(s3 url: String, timeout: Double = 0.2) throws(WebImageError) {
        let settings = AWSSettings.process
        let configuration: S3Configuration
        do throws(S3Configuration.Problem) { configuration = try S3Configuration(url: url, settings: settings) } catch {
            throw WebImageError(.invalidURL, "the address of the S3 store cannot be used: \(error.description)")
        }
        let seconds = timeout > 0 ? min(timeout, 60) : 0.2
        let client = S3Client(configuration, credentials: AWSCredentialCache(settings))
        self.init(S3Store(client, patience: UInt64(seconds * 1e9)))
    }
}

extension RemoteImageStore {
    /// Creates the store at the address of a bucket (`s3:`) or of a server of Redis, as programs get it from their users.
    ///
    /// - Throws: the errors of the initializers for these addresses.
    package static func make(
        at address: String,
        timeout: Double,
        certificates: RemoteStoreCertificates = RemoteStoreCertificates()
    ) throws(WebImageError) -> RemoteImageStore {
        guard address.lowercased().hasPrefix("s3:") else {
            return try RemoteImageStore(redis: address, timeout: timeout, certificates: certificates)
        }
        return try RemoteImageStore(s3: address, timeout: timeout)
    }
}
