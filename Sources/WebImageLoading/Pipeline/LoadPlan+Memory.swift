import FoundationEssentials

extension LoadPlan {
    /// The result, if it lies in memory.
    func memoryHit() -> PipelineImage? {
        guard queriesMemory, let cacheKey else { return nil }
        guard let image = memoryImage(forKey: cacheKey, of: cache) else { return untransformedMemoryHit() }
        return PipelineImage(image: image, source: .memory)
    }

    /// The bytes of an entry under the result's key, unless they are known to be another image's: what made the one new may have left the
    /// other, as the load of a thumbnail does with the whole image in memory.
    func data(of entry: CachedImageData?, for image: Image) -> Data? {
        entry.flatMap { $0.mayBelong(to: image, isOriginal: isOriginal) ? $0.data : nil }
    }

    /// The result, if it lies in memory under another key because it must not be transformed.
    func untransformedMemoryHit() -> PipelineImage? {
        guard queriesMemory, gate != .open, let key = untransformedKey,
            let image = memoryImage(forKey: key, of: cache), !gate.admits(image)
        else { return nil }
        return PipelineImage(image: image, source: .memory, cacheKey: key)
    }

    /// The original at full size, if it lies in memory, may be used and is of use.
    func originalMemoryHit() -> PipelineImage? {
        guard result.value.queriesOriginalMemory, !chain.isEmpty, !decode.options.isThumbnail, let originalKey,
            let image = memoryImage(forKey: originalKey, of: decode.original.cache)
        else { return nil }
        return PipelineImage(image: image, source: .memory)
    }

    private func memoryImage(forKey key: String, of cache: any ImageCaching) -> Image? {
        let options = decode.options
        guard let image = cache.memoryImage(forKey: key), image.serves(options) else { return nil }
        return (options.decodeFirstFrameOnly ? image.still : image).scaled(to: options.scaleFactor)
    }

    /// The image of an entry that was stored under the result's own key; nil if it is no picture.
    ///
    /// - Parameter options: in place of ``derivedOptions``, to make less of the picture.
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

    /// Applies the whole chain, or nothing of it.
    func transformed(_ input: PipelineImage, _ trace: LoadTrace) throws(WebImageError) -> PipelineImage {
        guard gate.admits(input.image) else { return input }
        var image = input
        for transformer in chain.transformers { image = try trace.transforming(image, by: transformer.value) }
        return image
    }
}
