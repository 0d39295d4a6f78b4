import FoundationEssentials

/// Drawings, which have no pixel size.
extension DecodePlan {
    /// The longest side that cairo draws.
    private static let longestDrawnSide = 32_767

    /// Decides the size at which a vector image or a page is drawn: the thumbnail size if there is one, even if it is larger than the
    /// document's size. The limits apply to the drawn size, not to the one that the document states.
    ///
    /// - Parameters:
    ///   - width: the width that the document states, in pixels, not rounded.
    ///   - properties: the properties of the document, with its size in whole pixels.
    /// - Throws: ``WebImageError/Code/limitExceeded``.
    package static func drawing(
        width: Double,
        height: Double,
        _ properties: ImageProperties,
        _ options: ImageDecodeOptions
    ) throws(WebImageError) -> DecodePlan {
        var wanted = properties
        if let box = options.thumbnailPixelSize, box.isUsable {
            var size = box
            if options.preserveAspectRatio {
                let (across, down) = (box.width / width, box.height / height)
                let scale = options.thumbnailCovers ? max(across, down) : min(across, down)
                size = ImageSize(width: width * scale, height: height * scale)
            }
            wanted.width = drawnSide(size.width, .toNearestOrAwayFromZero)
            wanted.height = drawnSide(size.height, .toNearestOrAwayFromZero)
        }
        let side = max(wanted.width, wanted.height)
        try options.limits.check(width: wanted.width, height: wanted.height)
        guard side <= longestDrawnSide else {
            throw .limitExceeded("\(properties.format) side length", allowed: longestDrawnSide, required: side)
        }
        var unboxed = options
        unboxed.thumbnailPixelSize = nil
        // The caller has found the page, and the properties are those of that page.
        unboxed.page = 0
        var plan = try make(for: wanted, options: unboxed)
        plan.isThumbnail = wanted.width != properties.width || wanted.height != properties.height
        return plan
    }

    /// Rounds a side to at least 1. Sizes above any limit are clamped to fit an `Int`; a size slightly above a whole number counts
    /// as that number.
    package static func drawnSide(_ side: Double, _ rule: FloatingPointRoundingRule) -> Int {
        max(Int((min(side, 1e9) - 1e-6).rounded(rule)), 1)
    }
}

extension WebImageError {
    /// Returns the error for a page that does not exist, or that the format's coder does not decode.
    ///
    /// - Parameters:
    ///   - page: counted from 0.
    ///   - count: the number of pages of the file.
    package static func pageNotFound(_ page: Int, of count: Int) -> WebImageError {
        if page > 0, page < count {
            return WebImageError(.pageNotFound, "only the first of \(count) pages is decoded")
        }
        let pages = count == 1 ? "an image of one page" : "\(count) pages"
        return WebImageError(.pageNotFound, "there is no page \(page &+ 1) of \(pages)")
    }
}
