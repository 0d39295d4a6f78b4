public import FoundationEssentials

extension ImageCache {
    /// Returns the extended data stored with the entry on disk, or pending; nil if there is none. Reads only the end of the file
    /// (if the disk level is a ``DiskCache``) and does not count as an access.
    public func extendedData(forKey key: String) async -> Data? {
        await onDiskQueue { $0.readDetails(forKey: key).found?.extendedData }
    }

    /// Delivers the extended data stored with the entry on disk, or pending, on `callbackQueue`; see ``extendedData(forKey:)``.
    public func extendedData(
        forKey key: String,
        callbackQueue: CallbackQueue = .main,
        completion: @escaping @Sendable (Data?) -> Void
    ) {
        onDiskQueue(callbackQueue, { $0.readDetails(forKey: key).found?.extendedData }, completion)
    }

    /// Replaces the extended data of the entry on disk, nil for none; the entry's image and times stay. Has no effect without an
    /// entry, nor on an image in memory. Returns when it is done.
    public func setExtendedData(_ data: Data?, forKey key: String) async {
        await withCheckedContinuation { continuation in
            setExtendedData(data, forKey: key) { continuation.resume() }
        }
    }

    /// Replaces the extended data of the entry on disk, nil for none; see ``setExtendedData(_:forKey:)``. Every read sees the
    /// change as soon as the call returns. `completion` is called exactly once, on a thread of the cache, when it is done (for an
    /// empty key, on the caller's). It must not block.
    public func setExtendedData(_ data: Data?, forKey key: String, completion: (@Sendable () -> Void)?) {
        guard !key.isEmpty else {
            completion?()
            return
        }
        submit(.amend(EntryAmendment(extendedData: .some(data))), forKey: key, completion: completion)
    }

    /// Replaces the validators of the entry on disk, nil for none; the entry's image and times stay. Has no effect without an
    /// entry. Returns at once; every read sees the change from then on.
    public func amend(validators: CacheValidators?, forKey key: String) {
        guard !key.isEmpty else { return }
        submit(.amend(EntryAmendment(validators: .some(validators))), forKey: key, completion: nil)
    }

    /// Returns the ThumbHash of an entry on disk, about 25 bytes that describe the image, for a placeholder while it is decoded;
    /// nil if there is no entry or no hash. Loads create it for every original that they store. Reads only the end of the file (if
    /// the disk level is a ``DiskCache``), and does not count as an access.
    public func thumbHash(forKey key: String) async -> ThumbHash? {
        await onDiskQueue { $0.readDetails(forKey: key).found?.thumbHash }
    }
}
