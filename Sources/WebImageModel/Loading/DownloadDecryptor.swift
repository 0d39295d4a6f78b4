public import FoundationEssentials

/// Converts a downloaded body into the bytes of an image. Caches store the result.
///
/// Request coalescing compares the object: loads with different decryptors do not share a download, so make one and keep it.
public final class DownloadDecryptor: Sendable {
    private let body: @Sendable (Data, HTTPResponse?) throws -> Data?

    /// Creates a decryptor from a closure.
    ///
    /// - Parameter body: called on a decode thread with the whole body. If it returns nil or throws, the download fails with
    ///   ``WebImageError/Code/badImageData``.
    public init(_ body: @escaping @Sendable (_ data: Data, _ response: HTTPResponse?) throws -> Data?) {
        self.body = body
    }

    /// Returns the bytes of the image, or nil if there are none.
    public func decrypted(_ data: Data, response: HTTPResponse?) throws -> Data? { try body(data, response) }

    /// Decodes Base64, ignoring white space and other characters.
    public static let base64 = DownloadDecryptor { data, _ in
        Data(base64Encoded: data, options: .ignoreUnknownCharacters)
    }
}
