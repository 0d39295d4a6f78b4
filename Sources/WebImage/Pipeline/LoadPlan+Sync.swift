import FoundationEssentials

extension LoadPlan {
    /// Reads, decodes and transforms what lies on disk on the caller's thread; nil if there is nothing usable.
    ///
    /// Tells only of what is found: after that the disk is looked at in the background.
    ///
    /// - Parameter operation: the load; what is made for it is not stored if it was cancelled meanwhile, for example by a
    ///   transformer.
    func imageFromDiskSync(for operation: WebImageLoadOperation, _ trace: LoadTrace) -> PipelineImage? {
        if let hit = untransformedMemoryHit() {
            trace.note(.memoryHit(key: hit.cacheKey ?? ""))
            return hit
        }
        if let image = derivedImageSync(trace) {
            return operation.isRunning ? storedInMemory(image, trace).settled : image.settled
        }
        let original = decode.original
        guard original.queriesDisk, let originalKey, let entry = original.cache.diskEntry(forKey: originalKey) else {
            return nil
        }
        trace.note(.diskHit(key: originalKey, byteCount: entry.data.count))
        guard original.problem(of: entry) == nil else { return nil }
        let image = try? trace.decoding(entry.data.count) { () throws(WebImageError) in
            try decodedNow(
                entry.data,
                decode.options,
                transformer: chain.whole,
                trace
            ) {
                (admission) throws(WebImageError) in
                try decode.decoded(OriginalData(entry: entry, source: .disk), options: admission.options)
            }
        }
        guard let image, let result = try? transformed(image, trace) else { return nil }
        if let room = image.room { room.hold(result.image) } else { trace.pipeline.budget.hold(result.image) }
        return operation.isRunning ? stored(result, trace).settled : result.settled
    }

    private func derivedImageSync(_ trace: LoadTrace) -> PipelineImage? {
        guard queriesDerivedDisk, let cacheKey, let entry = cache.diskEntry(forKey: cacheKey) else { return nil }
        trace.note(.diskHit(key: cacheKey, byteCount: entry.data.count))
        return try? decodedNow(entry.data, derivedOptions, trace) { (admission) throws(WebImageError) in
            guard let image = decodeDerived(entry, admission, trace) else {
                throw WebImageError(.badImageData, "the entry is no picture")
            }
            return image
        }
    }

    /// Decodes within the budget, without waiting for others.
    private func decodedNow(
        _ data: Data,
        _ options: ImageDecodeOptions,
        transformer: (any ImageTransformer)? = nil,
        _ trace: LoadTrace,
        _ body: (DecodeAdmission) throws(WebImageError) -> PipelineImage
    ) throws(WebImageError) -> PipelineImage {
        var result: PipelineImage?
        let budget = trace.pipeline.budget
        let room = try budget.decodeNow(
            data,
            coder: decode.coder,
            options: options,
            transformer: transformer
        ) { (admission) throws(WebImageError) in
            let image = try body(admission)
            result = image
            return image.image
        }
        guard var result else { throw WebImageError(.badImageData, "the entry is no picture") }
        result.room = room
        return result
    }
}
