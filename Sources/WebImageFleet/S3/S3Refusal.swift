import FoundationEssentials

/// An error that S3 responded with, as far as a client can react to it.
enum S3Refusal: Sendable, Hashable {
    /// The object does not exist.
    case absent
    /// The object has no bytes, so that no part of it can be asked for.
    case empty
    /// A conditional write found an object.
    case exists
    /// The credentials have ended, or were replaced by others.
    case staleCredentials
    /// The store does not know conditional writes, or copies.
    case unsupported
    /// The store fails, or does not accept requests from here at all. It counts for the circuit breaker.
    case storeFailure
    /// The request was not accepted; the store is well.
    case requestFailure

    /// - Parameters:
    ///   - body: the XML document of the error; only its code is read.
    ///   - isOptional: true for a conditional write, or a copy, which not every store knows.
    init(statusCode: Int, body: Data, isOptional: Bool) {
        let code = Self.code(in: body)
        switch (statusCode, code) {
        case (_, "ExpiredToken"), (_, "TokenRefreshRequired"), (_, "InvalidToken"), (_, "InvalidAccessKeyId"):
            self = .staleCredentials
        case (404, nil), (404, "NoSuchKey"): self = .absent
        case (416, _): self = .empty
        case (412, _) where isOptional, (409, _) where isOptional: self = .exists
        case (501, _) where isOptional, (_, "NotImplemented") where isOptional: self = .unsupported
        // Without the right to list the bucket, this is also the answer for an object that does not exist.
        case (403, "AccessDenied"): self = .requestFailure
        case (400, _) where code != "AuthorizationHeaderMalformed": self = .requestFailure
        // Wrong region or bucket, wrong secret, wrong clock, too many requests, out of order: the next request would end as this one.
        default: self = .storeFailure
        }
    }

    /// Returns the content of the first element `Code`; nil if there is none, or if it is not a short word.
    static func code(in document: Data) -> String? {
        let bytes = [UInt8](document.prefix(4096))
        guard let start = index(of: "<Code>", in: bytes[...]) else { return nil }
        let rest = bytes[(start + "<Code>".utf8.count)...]
        guard let end = index(of: "</Code>", in: rest.prefix(80)) else { return nil }
        let word = rest[..<end]
        let isWord = word.allSatisfy { byte in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) || (48...57).contains(byte)
        }
        return !word.isEmpty && isWord ? String(decoding: word, as: UTF8.self) : nil
    }

    private static func index(of text: String, in bytes: ArraySlice<UInt8>) -> Int? {
        let text = Array(text.utf8)
        guard bytes.count >= text.count else { return nil }
        return (bytes.startIndex...(bytes.endIndex - text.count)).first { bytes[$0...].starts(with: text) }
    }
}
