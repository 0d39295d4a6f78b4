import CGnuTLS

/// Message authentication codes (HMAC), by GnuTLS.
enum MessageAuthentication: Sendable {
    /// HMAC-SHA1, 20 bytes.
    case sha1
    /// HMAC-SHA256, 32 bytes.
    case sha256

    /// Returns the code of a message; nil if the system's cryptographic policy does not allow the hash.
    func code(of message: [UInt8], key: [UInt8]) -> [UInt8]? {
        let (algorithm, count) =
            switch self {
            case .sha1: (GNUTLS_MAC_SHA1, 20)
            case .sha256: (GNUTLS_MAC_SHA256, 32)
            }
        var failure: Int32 = 0
        let code = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            failure = gnutls_hmac_fast(algorithm, key, key.count, message, message.count, buffer.baseAddress)
            if failure == 0 { initialized = count }
        }
        return failure == 0 ? code : nil
    }

    /// Returns whether two byte strings are equal, in a time that depends only on their lengths.
    static func isEqual(_ first: some Collection<UInt8>, _ second: some Collection<UInt8>) -> Bool {
        guard first.count == second.count else { return false }
        return zip(first, second).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}

/// A key and a salt that sign URLs.
public struct SignatureKey: Sendable, Hashable {
    /// The key of the HMAC.
    public let key: [UInt8]
    /// The bytes that are hashed before the path.
    public let salt: [UInt8]

    /// Creates a pair.
    ///
    /// - Parameters:
    ///   - key: the key of the HMAC.
    ///   - salt: the bytes that are hashed before the path; none by default.
    public init(key: [UInt8], salt: [UInt8] = []) {
        self.key = key
        self.salt = salt
    }

    /// Returns the pairs of two lists of hexadecimal numbers, as imgproxy's `IMGPROXY_KEY` and `IMGPROXY_SALT` contain them.
    ///
    /// - Throws: ``GrammarConfigurationError`` if the lists have different lengths, or something is not hexadecimal or empty.
    public static func pairs(
        keys: [String],
        salts: [String]
    ) throws(GrammarConfigurationError) -> [SignatureKey] {
        guard keys.count == salts.count else {
            throw GrammarConfigurationError("\(keys.count) keys but \(salts.count) salts")
        }
        var pairs: [SignatureKey] = []
        for (key, salt) in zip(keys, salts) {
            guard let key = URLBytes.hexadecimal(key), let salt = URLBytes.hexadecimal(salt), !key.isEmpty else {
                throw GrammarConfigurationError("key and salt \(pairs.count + 1) must be hexadecimal")
            }
            pairs.append(SignatureKey(key: key, salt: salt))
        }
        return pairs
    }
}

/// An invalid configuration of a grammar, found when it is created.
public struct GrammarConfigurationError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The reason, for the operator.
    public let description: String

    init(_ description: String) { self.description = description }
}
