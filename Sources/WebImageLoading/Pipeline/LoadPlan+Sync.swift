import FoundationEssentials

extension LoadPlan {
    /// Reads, decodes and transforms an image from disk on the caller's thread; nil if none is usable.
    ///
    /// Reports only hits: after a miss, the disk is queried again in the background.
    ///
    /// - Parameter operation: The load. If it was cancelled meanwhile, for example by a transformer, the image is not stored.
    func imageFromDiskSync(for operation: WebImageLoadOperation, _ trace: LoadTrace) -> PipelineImage? {
        if let hit = untransformedMemoryHit() {
            trace.note(.memoryHit(key: hit.cacheKey ?? ""))
            return hit
        }
        if let image = derivedImageSync(for: operation, trace) { return image }
        let original = decode.original
        guard original.queriesDisk, let originalKey, let entry = original.cache.diskEntry(forKey: originalKey) else {
            return nil
        }
        trace.note(.diskHit(key: originalKey, byteCount: entry.data.count))
        guard original.problem(of: entry) == nil else { return nil }
        let budget = trace.pipeline.budget
        let cost = MemoryCost.decode(entry.data, decode.coder, decode.options, transformer: chain.whole)
        return try? budget.perform(cost) { (options) throws(WebImageError) in
            let image = try trace.decoding(entry.data.count) { () throws(WebImageError) in
                try decode.decoded(OriginalData(entry: entry, source: .disk), options: options)
            }
            budget.made(image.image, for: chain.whole)
            let result = try transformed(image, trace)
            budget.made(result.image)
            return operation.isRunning ? stored(result, trace) : result
        }
    }

    private func derivedImageSync(for operation: WebImageLoadOperation, _ trace: LoadTrace) -> PipelineImage? {
        guard queriesDerivedDisk, let cacheKey, let entry = cache.diskEntry(forKey: cacheKey) else { return nil }
        trace.note(.diskHit(key: cacheKey, byteCount: entry.data.count))
        let cost = MemoryCost.decode(entry.data, decode.coder, derivedOptions)
        let image = try? trace.pipeline.budget.perform(cost) { (options) -> PipelineImage? in
            guard let image = decodeDerived(entry, options, trace) else { return nil }
            return operation.isRunning ? storedInMemory(image, trace) : image
        }
        return image ?? nil
    }
}
