import FoundationEssentials

/// The settings of a store as users give them to programs: its address, files of certificates, and secrets.
package struct RemoteStoreSettings: Sendable {
    /// The environment variable with the secrets of programs that get no file.
    package static let secretVariable = "WEBIMAGE_REMOTE_SECRET"
    private static let leastSecretByteCount = 16

    /// The address of a bucket (`s3:`) or of a server of Redis.
    package var address: String
    package var certificates = RemoteStoreCertificates()
    /// The file with the secrets, one on each line; nil for ``secretText``.
    package var secretFile: String?
    /// The secrets, one on each line; nil or empty for none.
    package var secretText: String?

    package init(address: String) { self.address = address }

    /// Creates the store. Reads the files.
    ///
    /// - Parameter timeout: The time in seconds after which a load goes on without the store.
    /// - Throws: the errors of the address and of the certificates; ``WebImageError/Code/fileAccessFailed`` for a file that cannot be read;
    ///   ``WebImageError/Code/secureConnectionFailed`` for a secret of fewer than 16 bytes, and for a file without any.
    package func store(timeout: Double) throws(WebImageError) -> RemoteImageStore {
        let store = try RemoteImageStore.make(at: address, timeout: timeout, certificates: certificates)
        return store.sealed(with: try secrets())
    }

    private func secrets() throws(WebImageError) -> [Data] {
        var text = Data((secretText ?? "").utf8)
        if let secretFile {
            guard let content = FileManager.default.contents(atPath: secretFile) else {
                throw WebImageError(.fileAccessFailed, "the file of the secret, \(secretFile), cannot be read")
            }
            text = content
        }
        let secrets = text.split(separator: UInt8(ascii: "\n")).map { Data($0) }
        guard secretFile == nil || !secrets.isEmpty else {
            throw WebImageError(.secureConnectionFailed, "the file of the secret is empty")
        }
        guard secrets.allSatisfy({ $0.count >= Self.leastSecretByteCount }) else {
            throw WebImageError(.secureConnectionFailed, "a secret has fewer than \(Self.leastSecretByteCount) bytes")
        }
        return secrets
    }
}
