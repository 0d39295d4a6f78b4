import FoundationEssentials

extension ImageAssembler {
    /// Makes a preview of what is there of a picture.
    ///
    /// - Parameters:
    ///   - plan: how big the picture will be.
    ///   - maximumPixelCount: about the most pixels of the preview.
    /// - Returns: nil when no row is there.
    /// - Throws: ``WebImageError/Code/outOfMemory``, and what the rows throw.
    package static func makePreview(
        of rows: any ArrivedRows,
        properties: ImageProperties,
        plan: DecodePlan,
        options: ImageDecodeOptions,
        maximumPixelCount: Int
    ) throws(WebImageError) -> Image? {
        var preview = plan.reduced(toPixels: maximumPixelCount)
        var options = options
        let isWhole = preview.width == plan.width
        let factor: Int
        if rows.width == plan.width, rows.height == plan.height {
            factor = (plan.width + preview.width - 1) / preview.width
            preview.width = (rows.width + factor - 1) / factor
            preview.height = (rows.height + factor - 1) / factor
        } else {
            // Twice the size is left to the filter.
            factor = max(min(rows.width / (2 * preview.width), rows.height / (2 * preview.height)), 1)
        }
        let asked = options
        if !isWhole || factor > 1 { options.scalingQuality = .fast }
        let source = try PreviewRows(
            rows,
            factor: factor,
            profileLimit: options.limits.maximumColorProfileByteCount
        )
        let image = try makeImage(from: source, properties: properties, plan: preview, options: options)
        guard !source.isEmpty else { return nil }
        var metadata = image.metadata
        metadata.isIncremental = true
        return Image(bitmap: image.bitmap, scale: image.scale, metadata: metadata, decodeOptions: asked)
    }
}

extension DecodePlan {
    /// The plan of a picture that is a whole number of times smaller, so that it has about that many pixels at most.
    func reduced(toPixels limit: Int) -> DecodePlan {
        let limit = max(limit, 1)
        guard width * height > limit else { return self }
        var factor = max(Int((Double(width) * Double(height) / Double(limit)).squareRoot()), 2)
        func side(_ length: Int) -> Int { (length + factor - 1) / factor }
        // Sides are rounded up, so the root may be a little too small.
        while side(width) * side(height) > limit, factor < max(width, height) { factor += 1 }
        var plan = self
        (plan.width, plan.height) = (side(width), side(height))
        return plan
    }

    /// The size of a decode as far as the beginning of a file tells it; nil when it tells too little.
    ///
    /// - Parameter isSettled: whether nothing that may still come changes the size.
    /// - Throws: what ``make(for:options:)`` throws whatever comes.
    package static func early(
        for properties: ImageProperties,
        options: ImageDecodeOptions,
        isSettled: Bool
    ) throws(WebImageError) -> DecodePlan? {
        do throws(WebImageError) {
            return try make(for: properties, options: options)
        } catch {
            guard !isSettled, error.limit?.name == "maximumDecodedByteCount" else { throw error }
            return nil
        }
    }
}
