/// The record of images of other sizes in an original's entry on disk.
extension ImageCache {
    /// The variants that an entry records, and the hash of the bytes they were made from.
    package struct RecordedVariants: Sendable {
        /// The oldest first.
        package let variants: [StoredVariant]
        package let sourceHash: UInt64
    }

    /// True if entries on disk can record variants: if the disk level is a ``DiskCache``.
    package var recordsVariants: Bool { diskCache is DiskCache }

    /// Adds a variant to those that the entry of its original records. Has no effect without an entry, on an entry of other bytes, and on one
    /// that was stored without room for variants. `completion` is called exactly once, on a thread of the cache.
    ///
    /// The record is written in place, without the image's bytes, so if two processes do so at the same time, one of the variants may be
    /// lost, but never the image.
    package func record(
        _ variant: StoredVariant,
        madeOf sourceHash: UInt64,
        of original: String,
        completion: (@Sendable () -> Void)?
    ) {
        var amendment = EntryAmendment()
        amendment.variants = EntryAmendment.AddedVariants(variants: [variant], sourceHash: sourceHash)
        submit(.amend(amendment), forKey: original, completion: completion)
    }

    /// Reads the variants of an original, which may have been evicted since. Reads only the end of the file, and does not count as an
    /// access. Otherwise the same as ``queryDisk(forKey:priority:completion:)``.
    package func queryVariants(
        of original: String,
        priority: LoadPriority,
        completion: @escaping @Sendable (RecordedVariants?) -> Void
    ) -> any WebImageOperation {
        DiskQuery(on: diskQueue, priority, completion) {
            guard let found = self.readDetails(forKey: original).found,
                let variants = found.variants.value, !variants.isEmpty,
                let hash = CachedValidators(found).contentHash ?? (found.data.isEmpty ? nil : found.sourceHash)
            else { return nil }
            return RecordedVariants(variants: variants, sourceHash: hash)
        }
    }
}
