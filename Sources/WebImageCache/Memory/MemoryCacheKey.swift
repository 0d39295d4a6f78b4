import CXXHash
import Glibc

/// A key of a ``MemoryCache`` with its hash, for callers that look the same key up often.
///
/// Keys are equal when their UTF-8 bytes are.
public struct MemoryCacheKey: Sendable, Hashable, ExpressibleByStringLiteral {
    /// The key.
    public let string: String
    let digest: KeyDigest

    /// Hashes `string`; some 10 ns for an ordinary URL.
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

    /// Whether the bytes of both are the same.
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

    /// Feeds the hash that is already there.
    public func hash(into hasher: inout Hasher) { hasher.combine(digest.low) }
}

/// XXH3 of a key, 128 bits, different in every process so that nobody can prepare keys that collide; as Swift's own hashes,
/// the same in every process with SWIFT_DETERMINISTIC_HASHING in the environment.
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

    /// Calls `body` with the UTF-8 bytes of `string`, without a copy and without a reference count, over which threads that
    /// look up the same key would fight.
    @inline(__always)
    static func withBytes<Result>(of string: String, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        string.utf8Span.span.withUnsafeBytes(body)
    }
}
