public import FoundationEssentials

/// Makes a picture's bytes of what was downloaded. Caches get what it makes.
///
/// Loads with different decryptors do not share a download: it is the object that counts, so make one and keep it.
public final class DownloadDecryptor: Sendable {
    private let body: @Sendable (Data, HTTPResponse?) throws -> Data?

    /// A decryptor of a closure.
    ///
    /// - Parameter body: asked on a decode thread with the whole body. A nil answer, or an error, ends the download with
    ///   ``WebImageError/Code/badImageData``.
    public init(_ body: @escaping @Sendable (_ data: Data, _ response: HTTPResponse?) throws -> Data?) {
        self.body = body
    }

    /// The picture's bytes, or nil when there are none.
    public func decrypted(_ data: Data, response: HTTPResponse?) throws -> Data? { try body(data, response) }

    /// Base64, white space and other characters ignored.
    public static let base64 = DownloadDecryptor { data, _ in
        Data(base64Encoded: data, options: .ignoreUnknownCharacters)
    }
}
