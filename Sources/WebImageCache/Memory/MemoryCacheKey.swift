import CXXHash
import Glibc

/// A key of a ``MemoryCache`` with its hash, for callers that look up the same key often.
///
/// Keys are equal if their UTF-8 bytes are equal.
public struct MemoryCacheKey: Sendable, Hashable, ExpressibleByStringLiteral {
    /// The key.
    package let string: String
    let digest: KeyDigest

    /// Hashes `string`; takes about 10 ns for an ordinary URL.
    public init(_ string: String) {
        self.string = string
        digest = KeyDigest.withBytes(of: string) { KeyDigest($0) }
    }

    init(_ string: String, _ digest: KeyDigest) {
        self.string = string
        self.digest = digest
    }

    /// Hashes `value`.
    public init(stringLiteral value: String) { self.init(value) }

    /// Returns a Boolean value that indicates whether the bytes of both keys are equal.
    public static func == (left: MemoryCacheKey, right: MemoryCacheKey) -> Bool {
        left.digest == right.digest
            && KeyDigest.withBytes(of: left.string) { left in
                KeyDigest.withBytes(of: right.string) { right in
                    guard let first = left.baseAddress, let second = right.baseAddress else {
                        return left.count == right.count
                    }
                    return left.count == right.count && memcmp(first, second, left.count) == 0
                }
            }
    }

    /// Feeds the precomputed hash.
    public func hash(into hasher: inout Hasher) { hasher.combine(digest.low) }
}

/// The 128-bit XXH3 hash of a key, seeded differently in every process, so that an attacker cannot prepare colliding keys. Like
/// Swift's hashes, it is the same in every process if SWIFT_DETERMINISTIC_HASHING is set in the environment.
package struct KeyDigest: Equatable {
    package let low: UInt64
    let high: UInt64

    private static let seed = UInt64(bitPattern: Int64(Hasher().finalize()))

    @inline(__always)
    init(_ bytes: UnsafeRawBufferPointer) {
        let hash = XXH3_128bits_withSeed(bytes.baseAddress, bytes.count, Self.seed)
        low = hash.low64
        high = hash.high64
    }

    init(low: UInt64, high: UInt64) {
        self.low = low
        self.high = high
    }

    /// Calls `body` with the UTF-8 bytes of `string`, without a copy and without changing a reference count, for which threads that
    /// look up the same key would contend.
    @inline(__always)
    static func withBytes<Result>(of string: String, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        string.utf8Span.span.withUnsafeBytes(body)
    }
}
