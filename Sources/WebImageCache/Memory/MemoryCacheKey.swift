import Glibc

/// A key of a ``MemoryCache`` with its hash, for callers that look up the same key often.
///
/// Keys are equal if their UTF-8 bytes are equal.
public struct MemoryCacheKey: Sendable, Hashable, ExpressibleByStringLiteral {
    /// The key.
    package let string: String
    /// The hash of its UTF-8 bytes.
    package let keyHash: UInt64

    /// Hashes `string`; takes about 10 ns for an ordinary URL.
    public init(_ string: String) {
        self.string = string
        keyHash = KeyHash.withBytes(of: string) { KeyHash.of($0) }
    }

    init(_ string: String, hash: UInt64) {
        self.string = string
        keyHash = hash
    }

    /// Hashes `value`.
    public init(stringLiteral value: String) { self.init(value) }

    /// Returns a Boolean value that indicates whether the bytes of both keys are equal.
    public static func == (left: MemoryCacheKey, right: MemoryCacheKey) -> Bool {
        left.keyHash == right.keyHash
            && KeyHash.withBytes(of: left.string) { left in
                KeyHash.withBytes(of: right.string) { right in
                    guard let first = left.baseAddress, let second = right.baseAddress else {
                        return left.count == right.count
                    }
                    return left.count == right.count && memcmp(first, second, left.count) == 0
                }
            }
    }

    /// Feeds the precomputed hash.
    public func hash(into hasher: inout Hasher) { hasher.combine(keyHash) }
}

/// Hashes of keys: 64-bit XXH3, seeded differently in every process, so that an attacker cannot prepare colliding keys. Like Swift's
/// hashes, they are the same in every process if SWIFT_DETERMINISTIC_HASHING is set in the environment.
package enum KeyHash {
    private static let seed = UInt64(bitPattern: Int64(Hasher().finalize()))

    @inline(__always)
    static func of(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        Hashing.xxh3(bytes, seed: seed)
    }

    /// Calls `body` with the UTF-8 bytes of `string`, without a copy and without changing a reference count, for which threads that
    /// look up the same key would contend.
    @inline(__always)
    static func withBytes<Result>(of string: String, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        // Takes half the time of `utf8Span`, which is left for strings that do not store UTF-8.
        string.utf8.withContiguousStorageIfAvailable { body(UnsafeRawBufferPointer($0)) }
            ?? string.utf8Span.span.withUnsafeBytes(body)
    }
}
