import FoundationEssentials

extension ImageAssembler {
    /// Makes a preview of the available rows of an image.
    ///
    /// - Parameters:
    ///   - plan: the size of the complete image.
    ///   - maximumPixelCount: the approximate maximum number of pixels of the preview.
    /// - Returns: nil when no row is available.
    /// - Throws: ``WebImageError/Code/outOfMemory``, and the errors of the rows.
    package static func makePreview(
        of rows: any ReceivedRows,
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
            // The filter reduces the last factor of two.
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
    /// Returns the plan of an image that is smaller by an integer factor and has at most about that many pixels.
    func reduced(toPixels limit: Int) -> DecodePlan {
        let limit = max(limit, 1)
        guard width * height > limit else { return self }
        var factor = max(Int((Double(width) * Double(height) / Double(limit)).squareRoot()), 2)
        func side(_ length: Int) -> Int { (length + factor - 1) / factor }
        // Sides are rounded up, so the root may be slightly too small.
        while side(width) * side(height) > limit, factor < max(width, height) { factor += 1 }
        var plan = self
        (plan.width, plan.height) = (side(width), side(height))
        return plan
    }

    /// Returns the size of a decode if the beginning of a file determines it; otherwise nil.
    ///
    /// - Parameter isSettled: further data cannot change the size.
    /// - Throws: the errors of ``make(for:options:)`` that do not depend on further data.
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
