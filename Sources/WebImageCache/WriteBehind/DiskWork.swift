import FoundationEssentials

/// Pending work for an entry on disk.
package enum DiskWork: Sendable {
    /// The source of an entry.
    package enum Source: Sendable {
        /// An entry with its bytes; behind a reference, because pending work is copied often.
        indirect case entry(CachedImageData)
        /// An image that must be encoded: CPU work, which runs on a decode thread and not on a disk thread of the cache.
        case image(PendingImage)

        /// The entry, encoded if needed. Nil if encoding fails.
        var entry: CachedImageData? {
            switch self {
            case .entry(let entry): entry
            case .image(let image): image.encoded()
            }
        }

        /// The entry with its metadata; the bytes of an image are missing.
        var content: CachedImageData {
            switch self {
            case .entry(let entry): entry
            case .image(let image): image.entry
            }
        }

        /// The number of bytes held in memory while pending.
        var cost: Int {
            switch self {
            case .entry(let entry): entry.byteCount
            case .image(let image): image.image.pixelByteCount + image.entry.byteCount
            }
        }
    }

    /// Store an entry; an image is encoded first, and the result is then written.
    case store(Source)
    /// Amend the entry, if there is one.
    case amend(EntryAmendment)
    /// Remove the entry.
    case remove
    /// Leave the entry as it is.
    case nothing

    /// True if the work results in an entry.
    var isStore: Bool { if case .store = self { true } else { false } }

    var isEncoding: Bool { if case .store(.image) = self { true } else { false } }
}

/// A change of an entry's metadata while its image stays: nil leaves a part unchanged, and `.some(nil)` removes it.
package struct EntryAmendment: Sendable, Hashable {
    var extendedData: Data??
    var validators: CacheValidators??
    /// Images of other sizes to add to those of the entry, if that has room for them.
    var variants: AddedVariants?

    /// Images of other sizes that were made from bytes with a hash.
    struct AddedVariants: Sendable, Hashable {
        var variants: [StoredVariant]
        let sourceHash: UInt64
    }

    var isEmpty: Bool { self == EntryAmendment() }
    /// True if nothing else is changed. Variants are not worth rewriting an entry: they are then left out.
    var isOnlyVariants: Bool { extendedData == nil && validators == nil }

    /// The number of bytes held in memory.
    var cost: Int { extendedData.flatMap { $0 }?.count ?? 0 }

    /// Returns the part of the change that applies to an entry made from bytes with this hash: validators and variants may belong to the
    /// bytes of a previous entry. If the hash is nil, it is unknown, and they are applied.
    func applied(to hash: @autoclosure () -> UInt64?) -> EntryAmendment {
        let subject = validators?.flatMap { $0.subject.value }
        guard subject ?? variants?.sourceHash != nil, let hash = hash() else { return self }
        var result = self
        if let subject, subject != hash { result.validators = nil }
        if let variants, variants.sourceHash != hash { result.variants = nil }
        return result
    }

    /// Returns the combination of both changes, in which the later one wins; variants are added up if they were made of the same bytes.
    func followed(by later: EntryAmendment) -> EntryAmendment {
        var added = later.variants ?? variants
        if let variants, variants.sourceHash == later.variants?.sourceHash {
            added?.variants = variants.variants.adding(later.variants?.variants ?? [])
        }
        return EntryAmendment(
            extendedData: later.extendedData ?? extendedData,
            validators: later.validators ?? validators,
            variants: added
        )
    }
}

extension CachedImageData {
    /// The number of bytes held in memory.
    fileprivate var byteCount: Int { data.count + (extendedData?.count ?? 0) }

    /// Returns the entry after a change. `hash` is that of the bytes it was made from; nil for its own.
    func amended(by amendment: EntryAmendment?, madeOf hash: UInt64?? = nil) -> CachedImageData {
        var entry = self
        let amendment = amendment?.applied(to: hash ?? validators?.receivedHash ?? dataHash.value ?? sourceHash)
        if let extendedData = amendment?.extendedData { entry.extendedData = extendedData }
        if let validators = amendment?.validators { entry.validators = validators }
        if let added = amendment?.variants, let variants = entry.variants.value {
            entry.variants.value = variants.adding(added.variants)
        }
        return entry
    }
}

/// An image that must be encoded before it can be written.
package struct PendingImage: Sendable {
    let image: Image
    let options: ImageEncodeOptions
    let coder: any ImageCoder
    /// The entry to store, without its bytes.
    private(set) var entry = CachedImageData(data: Data())

    /// Returns the same image with changed metadata.
    func amended(by amendment: EntryAmendment) -> PendingImage {
        let hash = entry.validators?.receivedHash ?? image.metadata.knownSourceHash
        var pending = self
        pending.entry = entry.amended(by: amendment, madeOf: .some(hash))
        return pending
    }

    /// Encodes the image in its own format if that can be written, is compressed and can represent the image, else in a format that
    /// can (``Image/encodingFormat(of:options:)``). Returns its entry; nil if encoding fails.
    func encoded() -> CachedImageData? {
        let format = image.encodingFormat(of: coder, options: options)
        guard let data = try? coder.encodeImageOrAnimation(image, to: format, options: options) else { return nil }
        var entry = entry
        entry.data = data
        return entry
    }
}

extension CachedValidators {
    /// Returns the validators after a change of the entry.
    func amended(by amendment: EntryAmendment?) -> CachedValidators {
        guard let changed = amendment?.applied(to: contentHash).validators else { return self }
        // The data that the hash belonged to is no longer available for a check.
        let isLost = validators?.receivedHash != nil && changed?.receivedHash == nil
        return CachedValidators(validators: changed, contentHash: isLost ? nil : contentHash)
    }
}
