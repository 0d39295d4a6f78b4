/// The certificates for encrypted connections to a store: files in PEM.
public struct RemoteStoreCertificates: Sendable, Hashable {
    /// The certificates of the authorities that are trusted, in place of the system's; nil for those of the system.
    public var authorityFile: String?
    /// The certificate of this client, and those between it and its authority; nil for none.
    public var certificateFile: String?
    /// The private key of the certificate, without a password; nil if it is in the file of the certificate.
    public var keyFile: String?

    /// Creates a choice of certificates.
    ///
    /// - Parameters:
    ///   - authorityFile: the certificates of the authorities that are trusted, in place of the system's.
    ///   - certificateFile: the certificate of this client, if the server wants one.
    ///   - keyFile: its private key, if it is in another file.
    public init(authorityFile: String? = nil, certificateFile: String? = nil, keyFile: String? = nil) {
        (self.authorityFile, self.certificateFile, self.keyFile) = (authorityFile, certificateFile, keyFile)
    }
}
