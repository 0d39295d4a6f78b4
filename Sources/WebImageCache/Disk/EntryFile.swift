package import FoundationEssentials

/// The content of a cache file as bytes in memory, for caches that keep it elsewhere.
package enum EntryFile {
    /// Returns the bytes of the file that a ``DiskCache`` would write; nil if a part is too long for its format.
    ///
    /// - Parameter created: the time of the store, in seconds since 1970.
    package static func encode(_ entry: CachedImageData, forKey key: String, created: Double) -> Data? {
        guard let nanoseconds = Int64(exactly: (created * 1e9).rounded()) else { return nil }
        let trailer = EntryTrailer(key: key, created: nanoseconds, entry)
        let tail = entry.data.withBytes { trailer.encoded(bodyLength: $0.count, bodyHash: Hashing.xxh3($0)) }
        return tail.map { entry.data + $0 }
    }

    /// Returns the entry in the bytes of a file, after the same checks as on disk: lengths, hashes, key. Nil if one fails.
    package static func decode(_ file: Data, forKey key: String) -> CachedImageData? {
        file.withBytes { bytes -> CachedImageData? in
            // Nil instead of an error for the end of a file that was not read far enough, which cannot be.
            guard let footer = try? EntryFooter.read(from: bytes, fileSize: bytes.count),
                footer.trailerLength <= bytes.count,
                let found = EntryReader(calls: .system).trailer(in: bytes, footer, nil),
                found.trailer.hasKey(key)
            else { return nil }
            let body = UnsafeRawBufferPointer(rebasing: bytes[..<footer.bodyLength])
            guard Hashing.xxh3(body) == footer.bodyHash else { return nil }
            return found.content(Data(body))
        }
    }
}
