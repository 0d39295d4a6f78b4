import FoundationEssentials

/// What is to be done to an entry on disk.
package enum DiskWork: Sendable {
    /// What an entry is made of.
    package enum Picture: Sendable {
        /// These bytes.
        case entry(CachedImageData)
        /// This, encoded: computing, which is done on a decode thread and not on one of the cache's.
        case image(PendingImage)

        /// The entry; encodes, if that is needed. Nil when that cannot be done.
        var entry: CachedImageData? {
            switch self {
            case .entry(let entry): entry
            case .image(let image): image.encoded()
            }
        }

        /// What is stored with it; the bytes of an image are not there yet.
        var content: CachedImageData {
            switch self {
            case .entry(let entry): entry
            case .image(let image): image.entry
            }
        }

        /// Bytes that waiting holds in memory.
        var cost: Int {
            let pixels = if case .image(let pending) = self { pending.image.pixelByteCount } else { 0 }
            return pixels + content.data.count + (content.extendedData?.count ?? 0)
        }
    }

    /// Make an entry of this; of an image, what it gives is then written.
    case store(Picture)
    /// Change what is stored with the entry, if there is one.
    case amend(EntryAmendment)
    /// Remove the entry.
    case remove
    /// Leave the entry as it is.
    case nothing

    /// Whether there will be an entry.
    var isStore: Bool { if case .store = self { true } else { false } }

    var isEncoding: Bool { if case .store(.image) = self { true } else { false } }
}

/// What changes of an entry while its picture stays: nil leaves a part alone, and `.some(nil)` takes it away.
package struct EntryAmendment: Sendable, Hashable {
    var extendedData: Data??
    var validators: CacheValidators??

    /// Bytes that it holds in memory.
    var cost: Int { extendedData.flatMap { $0 }?.count ?? 0 }

    /// What changes of an entry that was made of bytes with this hash: validators may be about others, which were there before.
    /// With nil nobody knows, and they are taken to be these.
    func applied(to hash: @autoclosure () -> UInt64?) -> EntryAmendment {
        guard let subject = validators?.flatMap({ $0.subject.value }), let hash = hash(), hash != subject else {
            return self
        }
        return EntryAmendment(extendedData: extendedData)
    }

    /// Both, the later one winning.
    func followed(by later: EntryAmendment) -> EntryAmendment {
        EntryAmendment(
            extendedData: later.extendedData ?? extendedData,
            validators: later.validators ?? validators
        )
    }
}

extension CachedImageData {
    /// The entry after a change. It was made of bytes with this hash; nil for its own.
    func amended(by amendment: EntryAmendment?, madeOf hash: UInt64?? = nil) -> CachedImageData {
        var entry = self
        let amendment = amendment?.applied(to: hash ?? validators?.receivedHash ?? dataHash.value ?? sourceHash)
        if let extendedData = amendment?.extendedData { entry.extendedData = extendedData }
        if let validators = amendment?.validators { entry.validators = validators }
        return entry
    }
}

/// An image that has to be encoded before it can be written.
package struct PendingImage: Sendable {
    let image: Image
    let options: ImageEncodeOptions
    let coder: any ImageCoder
    /// What is stored, but for the bytes.
    private(set) var entry = CachedImageData(data: Data())

    /// The same picture with other things stored with it.
    func amended(by amendment: EntryAmendment) -> PendingImage {
        let hash = entry.validators?.receivedHash ?? image.metadata.knownSourceHash
        var pending = self
        pending.entry = entry.amended(by: amendment, madeOf: .some(hash))
        return pending
    }

    /// The entry of the encoded image, in its own format if that can be written and holds the image, else PNG with alpha and JPEG
    /// without; nil when it cannot be encoded.
    func encoded() -> CachedImageData? {
        let format = image.encodingFormat(of: coder, options: options)
        guard let data = try? coder.encodeMoving(image, to: format, options: options) else { return nil }
        var entry = entry
        entry.data = data
        return entry
    }
}

extension KnownValidators {
    /// The same after a change of the entry.
    func amended(by amendment: EntryAmendment?) -> KnownValidators {
        guard let changed = amendment?.applied(to: contentHash).validators else { return self }
        // What the hash was of is not there to be looked at any more.
        let isLost = validators?.receivedHash != nil && changed?.receivedHash == nil
        return KnownValidators(validators: changed, contentHash: isLost ? nil : contentHash)
    }
}
