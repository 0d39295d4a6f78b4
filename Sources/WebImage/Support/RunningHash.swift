import CXXHash

/// XXH3, 64 bits, of bytes that come in pieces: the same number that ``Hashing/xxh3(_:)`` gives for all of them.
struct RunningHash: ~Copyable {
    private let state: UnsafeMutableRawPointer?

    init() { state = webimage_xxh3_create() }

    deinit { webimage_xxh3_free(state) }

    /// Adds bytes.
    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        webimage_xxh3_update(state, bytes.baseAddress, bytes.count)
    }

    /// The hash of all bytes so far; nil when there was no memory for it.
    var value: UInt64? { state.map { webimage_xxh3_digest($0) } }
}
