extension ImageCache {
    /// Delivers an image from memory with its bytes from disk: before returning if that is asked for, else later.
    ///
    /// - Parameter query: of the disk, its mark taken before memory was looked at.
    func addData(to image: Image, for query: DiskImageQuery, _ token: ImageCacheToken) {
        if query.options.contains(.queryMemoryDataSync) {
            let entry = readEntry(forKey: query.key)
            if let result = pair(image, entry, query) { return token.result.finish(result) }
            let fresh = query.with(mark: marks.withLock { $0.mark(of: query.key) })
            let decoded = readEntry(forKey: query.key).map { decodeNow($0, for: fresh) }
            return token.result.finish(ImageCacheResult(decoded, orElse: image))
        }
        let handle = read(query.readKey, priority: query.options.loadPriority) { entry in
            guard token.result.isWanted else { return }
            if let result = self.pair(image, entry, query) { return token.finish(result) }
            let fresh = query.with(mark: self.marks.withLock { $0.mark(of: query.key) })
            self.decode(fresh, token) { token.finish(ImageCacheResult($0, orElse: image)) }
        }
        token.result.attach(handle)
    }

    /// An image from memory and bytes from disk as one result if they belong together. If not, because there was a store in
    /// between, the same is tried once more with what is there now; nil when there was another one, or when they are known to
    /// be of different pictures. Blocks.
    private func pair(_ image: Image, _ entry: CachedImageData?, _ query: DiskImageQuery) -> ImageCacheResult? {
        guard let entry else { return ImageCacheResult(image: image, cacheType: .memory) }
        if isCurrent(query) {
            guard entry.mayBelong(to: image, isOriginal: true) else { return nil }
            return ImageCacheResult(image: image, data: entry.data, cacheType: .memory)
        }
        let again = query.with(mark: marks.withLock { $0.mark(of: query.key) })
        guard let newer = imageFromMemory(forKey: query.key, options: query.options),
            let bytes = readEntry(forKey: query.key), isCurrent(again), bytes.mayBelong(to: newer, isOriginal: true)
        else { return nil }
        return ImageCacheResult(image: newer, data: bytes.data, cacheType: .memory)
    }
}

extension ImageCacheResult {
    /// What was read and decoded; the image of memory, if that gave none: a hit does not become a miss.
    fileprivate init(_ decoded: ImageCacheResult?, orElse image: Image) {
        if let decoded, decoded.image != nil {
            self = decoded
        } else {
            self.init(image: image, cacheType: .memory)
        }
    }
}
