public import FoundationEssentials

/// An image that is available in several sizes, each at a separate URL, as in the `srcset` attribute of HTML.
///
/// All URLs must show the same image. The load of a source is that of one of its URLs: the smallest that has enough pixels. Each URL has
/// separate entries in the caches.
public struct ImageSource: Sendable, Hashable {
    /// The size of a candidate.
    public enum Size: Sendable, Hashable {
        /// The width of the image in pixels; `640w` in HTML.
        case width(Int)
        /// The pixels per point of the displays that the image is for; `2x` in HTML.
        case density(Double)
    }

    /// One of the URLs.
    public struct Candidate: Sendable, Hashable {
        /// The URL.
        public let url: URL
        /// The size of the image at the URL.
        public let size: Size
    }

    /// The candidates in ascending order of their sizes.
    public let candidates: [Candidate]
    /// True to load the next smaller candidate than the best one, to save data. If nil, the default, views do so while the network is
    /// metered, and other loads do not.
    public var lowData: Bool?

    /// Returns a source with these candidates, in any order.
    ///
    /// Widths and densities cannot be compared: densities beside widths are ignored, and so are sizes that are not positive, and all but
    /// the first of equal sizes.
    public static func candidates(_ candidates: [(url: URL, size: Size)]) -> ImageSource {
        let hasWidths = candidates.contains { if case .width = $0.size { true } else { false } }
        var sizes: Set<Size> = []
        let usable = candidates.filter { candidate in
            switch candidate.size {
            case .width(let width): width > 0 && sizes.insert(candidate.size).inserted
            case .density(let density):
                !hasWidths && density > 0 && density.isFinite && sizes.insert(candidate.size).inserted
            }
        }
        return ImageSource(
            candidates: usable.map { Candidate(url: $0.url, size: $0.size) }
                .sorted { $0.size.number < $1.size.number }
        )
    }

    private init(candidates: [Candidate]) { self.candidates = candidates }

    /// Returns the best candidate: the smallest with enough pixels, or the largest. A larger one that is cached is used instead.
    ///
    /// - Parameters:
    ///   - width: the number of pixels that the image is drawn across; nil if it is not known, and then the largest candidate is used.
    ///   - density: the pixels per point of the display.
    ///   - lowData: true for the next smaller one.
    package func choose(
        width: Double?,
        density: Double,
        lowData: Bool,
        isCached: (Candidate) -> Bool = { _ in false }
    ) -> Candidate? {
        guard let index = index(width, density, lowData) else { return nil }
        return candidates[index...].first(where: isCached) ?? candidates[index]
    }

    /// Returns the candidates that have enough pixels, the best first.
    func sufficient(width: Double?, density: Double, lowData: Bool) -> ArraySlice<Candidate> {
        index(width, density, lowData).map { candidates[$0...] } ?? []
    }

    /// Returns whether there is a candidate larger than that of a URL.
    package func hasLarger(than url: URL?) -> Bool {
        guard let index = candidates.firstIndex(where: { $0.url == url }) else { return false }
        return index < candidates.count - 1
    }

    private func index(_ width: Double?, _ density: Double, _ lowData: Bool) -> Int? {
        guard !candidates.isEmpty else { return nil }
        let best = candidates.firstIndex { $0.size.isEnough(width, density) } ?? candidates.count - 1
        return lowData ? max(best - 1, 0) : best
    }
}

extension ImageSource.Size {
    fileprivate var number: Double {
        switch self {
        case .width(let width): Double(width)
        case .density(let density): density
        }
    }

    /// Sizes of views are rounded, so a fraction of a pixel does not count.
    fileprivate func isEnough(_ width: Double?, _ density: Double) -> Bool {
        switch self {
        case .width(let own): width.map { Double(own) >= $0 - 0.5 } ?? false
        case .density(let own): own >= density - 0.01
        }
    }
}

extension WebImageManager {
    /// Returns the URL of the source to load: of the smallest candidate that has enough pixels, or of a larger one that is cached; nil
    /// without candidates.
    ///
    /// The pixels are the width of the context's ``WebImageContext/thumbnailPixelSize``, or the density that is its
    /// ``WebImageContext/imageScaleFactor``, by default 1. Without a thumbnail size, the candidate with the largest width is used. Reads
    /// no entry: asks the caches only whether they have one.
    public func url(for source: ImageSource, context: WebImageContext? = nil) async -> URL? {
        let sufficient = source.sufficient(
            width: context?.thumbnailPixelSize?.width,
            density: context?.explicitScale ?? 1,
            lowData: source.lowData ?? false
        )
        for candidate in sufficient where sufficient.count > 1 {
            if await isCached(candidate.url, context) { return candidate.url }
        }
        return sufficient.first?.url
    }

    /// Loads the best candidate of a source (``url(for:context:)``); see ``image(with:options:context:)``.
    ///
    /// - Throws: ``WebImageError``; ``WebImageError/Code/invalidURL`` without candidates.
    public func image(
        with source: ImageSource,
        options: WebImageOptions = [],
        context: WebImageContext? = nil
    ) async throws(WebImageError) -> Image {
        guard let url = await url(for: source, context: context) else {
            throw WebImageError(.invalidURL, "the source has no candidates")
        }
        return try await image(with: url, options: options, context: context)
    }

    /// Returns the URL to load without waiting for the disk: an entry on disk counts as cached only if it was read or stored lately.
    ///
    /// - Parameters:
    ///   - density: The pixels per point, unless the context has another number.
    ///   - lowData: True for the next smaller candidate.
    package func knownURL(for source: ImageSource, context: WebImageContext, density: Double, lowData: Bool) -> URL? {
        source.choose(
            width: context.thumbnailPixelSize?.width,
            density: context.explicitScale ?? density,
            lowData: lowData
        ) { isKnownCached($0.url, context) }?.url
    }

    private func isKnownCached(_ url: URL, _ context: WebImageContext?) -> Bool {
        let load = ResolvedLoad(options: [], context: context ?? WebImageContext(), parts: parts)
        guard let key = originalKey(for: url, load) else { return false }
        return cache(for: load).memoryImage(forKey: resultKey(for: key, load)) != nil
            || originalCache(for: load).knownValidators(forKey: key) != nil
    }

    private func isCached(_ url: URL, _ context: WebImageContext?) async -> Bool {
        let load = ResolvedLoad(options: [], context: context ?? WebImageContext(), parts: parts)
        guard let key = originalKey(for: url, load) else { return false }
        if cache(for: load).memoryImage(forKey: resultKey(for: key, load)) != nil { return true }
        let found = await awaitCompletion { (completion: @escaping @Sendable (ImageCacheType) -> Void) in
            originalCache(for: load).containsImage(forKey: key, in: .all, completion: completion)
        }
        return found != .none
    }
}
