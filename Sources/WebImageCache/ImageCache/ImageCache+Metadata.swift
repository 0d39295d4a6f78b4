public import FoundationEssentials

extension ImageCache {
    /// The extended data stored with the entry on disk, or about to be; nil when there is none. Reads the end of the file
    /// only (where the disk level is the library's own) and does not count as an access.
    public func extendedData(forKey key: String) async -> Data? {
        await onDiskQueue { $0.readDetails(forKey: key).found?.extendedData }
    }

    /// The extended data stored with the entry on disk, or about to be, delivered on `callbackQueue`; see
    /// ``extendedData(forKey:)``.
    public func extendedData(
        forKey key: String,
        callbackQueue: CallbackQueue = .main,
        completion: @escaping @Sendable (Data?) -> Void
    ) {
        onDiskQueue(callbackQueue, { $0.readDetails(forKey: key).found?.extendedData }, completion)
    }

    /// Stores other extended data with the entry on disk, nil for none; picture and times of the entry stay. Has no effect
    /// without an entry, nor on an image in memory. Returns when it is done.
    public func setExtendedData(_ data: Data?, forKey key: String) async {
        await withCheckedContinuation { continuation in
            setExtendedData(data, forKey: key) { continuation.resume() }
        }
    }

    /// Stores other extended data with the entry on disk, nil for none; see ``setExtendedData(_:forKey:)``. Seen by every
    /// read from the moment the call returns. `completion` is called exactly once, on a thread of the cache, when it is done (without
    /// a key, on the caller's). It must not block.
    public func setExtendedData(_ data: Data?, forKey key: String, completion: (@Sendable () -> Void)?) {
        guard !key.isEmpty else {
            completion?()
            return
        }
        submit(.amend(EntryAmendment(extendedData: .some(data))), forKey: key, completion: completion)
    }

    /// Puts other validators to the entry on disk, nil for none; picture and times of the entry stay. Has no effect without
    /// an entry. Returns at once; seen by every read from then on.
    public func amend(validators: CacheValidators?, forKey key: String) {
        guard !key.isEmpty else { return }
        submit(.amend(EntryAmendment(validators: .some(validators))), forKey: key, completion: nil)
    }

    /// The picture of an entry on disk in about 25 bytes, for a placeholder while it is decoded; nil when there is no entry, or none
    /// was made. Loads make it of every original that they store. Reads the end of the file only (where the disk level is the
    /// library's own), and does not count as an access.
    public func thumbHash(forKey key: String) async -> ThumbHash? {
        await onDiskQueue { $0.readDetails(forKey: key).found?.thumbHash }
    }
}
