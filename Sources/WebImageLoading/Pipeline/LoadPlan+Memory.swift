import FoundationEssentials

extension LoadPlan {
    /// Returns the result if it is in memory.
    func memoryHit() -> PipelineImage? {
        guard queriesMemory, let cacheKey else { return nil }
        guard let image = memoryImage(forKey: cacheKey, of: cache), gate.admits(transformed: image) else {
            return untransformedMemoryHit()
        }
        return PipelineImage(image: image, source: .memory)
    }

    /// Returns the bytes of an entry under the result's key, unless they are known to belong to another image. An update of one cache
    /// level may not have updated the other: the load of a thumbnail leaves the full-size image in memory.
    func data(of entry: CachedImageData?, for image: Image) -> Data? {
        entry.flatMap { $0.mayBelong(to: image, isOriginal: isOriginal) ? $0.data : nil }
    }

    /// Returns the result if it is in memory under another key because it must not be transformed.
    func untransformedMemoryHit() -> PipelineImage? {
        guard queriesMemory, gate != .open, let key = untransformedKey,
            let image = memoryImage(forKey: key, of: cache), !gate.admits(image)
        else { return nil }
        return PipelineImage(image: image, source: .memory, cacheKey: key)
    }

    /// Returns the full-size original if it is in memory, allowed and useful.
    func originalMemoryHit() -> PipelineImage? {
        guard result.value.queriesOriginalMemory, !chain.isEmpty, !decode.options.isThumbnail,
            decode.options.selectsDefault,
            let originalKey,
            let image = memoryImage(forKey: originalKey, of: decode.original.cache)
        else { return nil }
        return PipelineImage(image: image, source: .memory)
    }

    private func memoryImage(forKey key: String, of cache: any ImageCaching) -> Image? {
        let options = decode.options
        guard let image = cache.memoryImage(forKey: key), image.serves(options) else { return nil }
        return (options.decodeFirstFrameOnly ? image.still : image).scaled(to: options.scaleFactor)
    }

    /// Decodes an entry stored under the result's own key; nil if it is not an image.
    ///
    /// - Parameter options: Replaces ``derivedOptions``, to decode a smaller image.
    func decodeDerived(
        _ entry: CachedImageData,
        _ options: ImageDecodeOptions?,
        _ trace: LoadTrace
    ) -> PipelineImage? {
        try? trace.decoding(entry.data.count) { () throws(WebImageError) in
            let image = try decode.coder.completeImage(of: entry.data, options: options ?? derivedOptions)
            trace.pipeline.budget.made(image)
            var metadata = image.metadata
            metadata.isThumbnail = decode.options.isThumbnail
            metadata.isTransformed = !chain.isEmpty
            metadata.sourceHash = isOriginal ? entry.sourceHash : entry.validators?.receivedHash ?? 0
            return PipelineImage(
                image: image.with(metadata: metadata, extendedData: entry.extendedData),
                data: entry.data,
                source: .disk
            )
        }
    }

    /// Applies the whole chain, or none of it.
    func transformed(_ input: PipelineImage, _ trace: LoadTrace) throws(WebImageError) -> PipelineImage {
        guard gate.admits(input.image) else { return input }
        var image = input
        for transformer in chain.transformers { image = try trace.transforming(image, by: transformer.value) }
        return image
    }
}
