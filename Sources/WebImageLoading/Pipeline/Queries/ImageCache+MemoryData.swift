extension ImageCache {
    /// Delivers an image from memory with its bytes from disk: before returning if requested, otherwise later. If an image is stored
    /// meanwhile, retries once with the image then in memory; if that fails, too, decodes the bytes.
    ///
    /// - Parameter work: A query started before memory was queried.
    func addData(
        to image: Image,
        _ work: EntryImageWork,
        _ options: WebImageOptions,
        _ token: ImageCacheToken,
        isSecond: Bool = false
    ) {
        if options.contains(.queryMemoryDataSync) {
            if let result = work.pair(image, readEntry(forKey: token.key)) { return token.result.finish(result) }
            let renewed = work.renewed
            if !isSecond, !work.isCurrent, let newer = renewed.imageInMemory {
                return addData(to: newer, renewed, options, token, isSecond: true)
            }
            let decoded = readEntry(forKey: token.key).map { renewed.imageNow(of: $0) }
            return token.result.finish(ImageCacheResult(decoded, orElse: image))
        }
        let priority = options.priority
        token.wait(for: work.read, priority: priority, stage: isSecond ? 1 : 0) { result in
            guard token.result.isWanted else { return }
            if let result = work.pair(image, result.diskEntry) { return token.finish(result) }
            let renewed = work.renewed
            if !isSecond, !work.isCurrent, let newer = renewed.imageInMemory {
                return self.addData(to: newer, renewed, options, token, isSecond: true)
            }
            token.wait(for: renewed, priority: priority, stage: 2) {
                token.finish(ImageCacheResult($0.query, orElse: image))
            }
        }
    }
}

extension EntryImageWork {
    /// The work of the same query with the current generation.
    fileprivate var renewed: EntryImageWork { EntryImageWork(plan: Boxed(plan.value.renewed)) }

    /// Returns an image from memory and bytes from disk as one result if they belong together; nil if there was a store in between,
    /// or if they are known to be of different images.
    fileprivate func pair(_ image: Image, _ entry: CachedImageData?) -> ImageCacheResult? {
        guard let entry else { return ImageCacheResult(image: image, cacheType: .memory) }
        guard isCurrent, entry.mayBelong(to: image, isOriginal: true) else { return nil }
        return ImageCacheResult(image: image, data: entry.data, cacheType: .memory)
    }
}

extension ImageCacheResult {
    /// Creates a result of the decoded entry, or of the image from memory if decoding failed: a hit does not become a miss.
    fileprivate init(_ decoded: ImageCacheResult?, orElse image: Image) {
        if let decoded, decoded.image != nil {
            self = decoded
        } else {
            self.init(image: image, cacheType: .memory)
        }
    }
}
