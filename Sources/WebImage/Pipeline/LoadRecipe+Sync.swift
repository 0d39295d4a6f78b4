extension LoadRecipe {
    /// The loader, if one may be asked.
    var loader: (any ImageLoading)? { decode.data.load?.loader }

    /// Reads, decodes and transforms what lies on disk on the caller's thread; nil if there is nothing usable.
    ///
    /// - Parameter isWanted: asked before anything is stored: another thread may have cancelled the load meanwhile.
    func imageFromDiskSync(while isWanted: () -> Bool) -> PipelineImage? {
        if let hit = untransformedMemoryHit() { return hit }
        if queriesDerivedDisk, let cacheKey, let entry = cache.diskEntry(forKey: cacheKey),
            let image = decodeDerived(entry)
        {
            return isWanted() ? storedInMemory(image) : nil
        }
        let data = decode.data
        guard data.queriesDisk, let originalKey, let entry = data.cache.diskEntry(forKey: originalKey),
            let image = try? decode.decoded(OriginalData(entry: entry, source: .disk)),
            let result = try? transformed(image), isWanted()
        else { return nil }
        return stored(result)
    }
}
