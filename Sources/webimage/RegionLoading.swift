import FoundationEssentials
import WebImage

/// Crops local files without decoding the rest of them.
enum RegionLoading {
    /// Loads the region of a local file that is cropped first; nil if the whole image is needed: for other sources and options, and for formats
    /// that are only decoded as a whole.
    static func load(
        _ source: Source,
        _ image: ImageArguments,
        _ session: Session,
        _ context: WebImageContext
    ) async -> SourceOutcome? {
        let common = session.common
        guard source.isFile, common.policy.isTrusted, common.memoryBudget == 0, context.observer == nil,
            image.thumbnail == nil, image.page == nil, image.videoTime == nil, image.rawDevelopment == nil,
            !common.options.contains(.fromCacheOnly), let crop = image.transformers.first as? CroppingTransformer
        else { return nil }
        let start = ContinuousClock.now
        let path = source.url.path(percentEncoded: false)
        let coders = common.coder as? ImageCodersManager ?? ImageCodersManager(coders: [common.coder])
        guard let reader = await coders.nativeRegionReader(forFileAt: path, limits: ImageLimits()),
            reader.properties.frameCount == 1
        else { return nil }
        let result: Result<WebImageResult, WebImageError>
        do throws(WebImageError) {
            let region = try await reader.read(crop.rect, level: 0)
            let rest = PipelineTransformer(Array(image.transformers.dropFirst()))
            let transformed = try await transform(region, rest)
            let key = session.manager.cacheKey(for: source.url, context: context)
            result = .success(WebImageResult(transformed, url: source.url, key: key))
        } catch {
            // Outside of the image: the error is that of the transformer.
            if error.code == .transformFailed { return nil }
            result = .failure(error.with(url: source.url))
        }
        let elapsed = Loading.milliseconds(since: start)
        return SourceOutcome(source: source, result: result, elapsedMilliseconds: elapsed)
    }

    private static func transform(_ image: Image, _ rest: PipelineTransformer) async throws(WebImageError) -> Image {
        guard !rest.transformers.isEmpty else { return image }
        return try await CodingQueue.shared.run { () throws(WebImageError) in try rest.transform(image) }
    }
}
