import WebImage

extension ResultTransformer {
    /// Draws the watermark.
    func drawing(_ watermark: Image, on image: Image, _ layout: VariantLayout) throws(WebImageError) -> Image {
        let extent = ImageExtent(image)
        let whole = PixelSize(extent.width, extent.height)
        let rule = options.watermark
        let mark = try Self.resized(watermark, rule, in: whole)
        let size = PixelSize(ImageExtent(mark).width, ImageExtent(mark).height)
        switch rule.position {
        case .gravity(let kind):
            let gravity = VariantGravity(kind, xOffset: rule.xOffset, yOffset: rule.yOffset)
            let (x, y) = gravity.position(
                of: size,
                in: whole,
                pixelsPerPoint: layout.pixelsPerPoint,
                allowsOverflow: true
            )
            return try image.drawing(mark, x: x, y: y, opacity: rule.opacity)
        case .repeated:
            let gapX = max(VariantGravity.offset(rule.xOffset, of: whole.width, layout.pixelsPerPoint), 0)
            let gapY = max(VariantGravity.offset(rule.yOffset, of: whole.height, layout.pixelsPerPoint), 0)
            let tile = PixelSize(
                min(size.width + gapX, max(size.width, 2 * whole.width)),
                min(size.height + gapY, max(size.height, 2 * whole.height))
            )
            let spaced = try mark.extended(
                toWidth: tile.width,
                height: tile.height,
                x: (tile.width - size.width) / 2,
                y: (tile.height - size.height) / 2
            )
            // One of an odd number of tiles is in the middle.
            return try image.drawing(
                spaced,
                x: Self.middle(whole.width, tile.width),
                y: Self.middle(whole.height, tile.height),
                opacity: rule.opacity,
                repeatsX: true,
                repeatsY: true
            )
        case .axes(let x, let y):
            return try image.drawing(
                mark,
                x: x.position(of: size.width, in: whole.width),
                y: y.position(of: size.height, in: whole.height),
                opacity: rule.opacity,
                repeatsX: x == .repeated,
                repeatsY: y == .repeated
            )
        }
    }

    /// Returns the first position of an odd number of tiles that cover a side, centred.
    private static func middle(_ side: Int, _ tile: Int) -> Int {
        let count = (side + tile - 1) / tile | 1
        return -((count * tile - side) / 2)
    }

    /// Fits the watermark into its part of the result.
    private static func resized(
        _ watermark: Image,
        _ rule: VariantWatermark,
        in whole: PixelSize
    ) throws(WebImageError) -> Image {
        let extent = ImageExtent(watermark)
        func factor(_ scale: Double, _ side: Int, _ own: Int) -> Double? {
            scale > 0 ? max((Double(side) * min(scale, 100)).rounded(.toNearestOrEven), 1) / Double(own) : nil
        }
        let factors = [
            factor(rule.widthScale, whole.width, extent.width), factor(rule.heightScale, whole.height, extent.height),
        ]
        guard let factor = factors.compactMap({ $0 }).min() else { return watermark }
        let all = ImageRect(x: 0, y: 0, width: extent.width, height: extent.height)
        return try watermark.resampled(
            all,
            width: max(VariantScale.rounded(Double(extent.width) * factor), 1),
            height: max(VariantScale.rounded(Double(extent.height) * factor), 1)
        )
    }
}

extension VariantWatermark.Placement {
    fileprivate func position(of inner: Int, in outer: Int) -> Int {
        func place(_ distance: Int, _ isFromEnd: Bool) -> Int {
            let limited = min(distance, 1 << 30)
            return isFromEnd ? outer - inner - limited : limited
        }
        return switch self {
        case .pixels(let pixels, let isFromEnd): place(pixels, isFromEnd)
        case .part(let part, let isFromEnd): place(VariantScale.rounded(Double(outer) * part), isFromEnd)
        case .center: (outer - inner) / 2
        case .repeated: 0
        }
    }
}
