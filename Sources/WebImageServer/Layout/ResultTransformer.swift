package import WebImage

/// Makes the pixels of a result from those of a decoded source, as a request's options say.
///
/// The source may be decoded smaller than it is, down to ``decodeSize(of:source:)``, stretched to exactly that size.
package struct ResultTransformer: ImageTransformer {
    /// The options of the request.
    let options: VariantOptions
    /// The source as its header describes it; nil if its size is that of the decoded image.
    private let source: VariantLayout.Source?
    /// Indicates whether the format of the result has no alpha: then transparent pixels become the background, or white.
    private let isOpaque: Bool
    /// The decoded watermark; without it, none is drawn.
    private let watermark: Image?

    /// Creates a transformer.
    ///
    /// - Parameters:
    ///   - options: the options of the request.
    ///   - source: the source, before it is trimmed; nil, the default, for the decoded image itself. It may be decoded smaller only if the
    ///     options name a size, do not crop or trim it, and the decoded image is not smaller than that size.
    ///   - isOpaque: whether the format of the result has no alpha.
    ///   - watermark: the decoded image that is drawn if the options have a watermark; it must be that of the options.
    package init(
        _ options: VariantOptions,
        source: VariantLayout.Source? = nil,
        isOpaque: Bool = false,
        watermark: Image? = nil
    ) {
        self.options = options
        self.source = source
        self.isOpaque = isOpaque
        self.watermark = options.watermark.opacity > 0 ? watermark : nil
    }

    /// Returns the size at which a source must be decoded at least; that of the source if it is trimmed.
    ///
    /// - Throws: ``ServerError`` if the result would be too large.
    package static func decodeSize(
        of options: VariantOptions,
        source: VariantLayout.Source
    ) throws(ServerError) -> PixelSize {
        let layout = try VariantLayout(options, source: source)
        return options.trim.threshold == nil ? layout.decodeSize : source.size
    }

    /// `Result(…)` with the options that concern pixels and the size of the source.
    package var transformerKey: String {
        let size = source.map { "\($0.size.width)x\($0.size.height)\($0.isVector ? "v" : "")" } ?? ""
        return "Result(\(options.pixelKey);\(size);\(isOpaque ? "opaque" : "")\(mark))"
    }

    /// Names the watermark by its bytes: results on disk outlive a change of the server's.
    private var mark: String { watermark.map { "marked\(String($0.metadata.sourceHash, radix: 16))" } ?? "" }

    /// Returns the result.
    ///
    /// - Throws: ``WebImageError/Code/limitExceeded`` if it is too large, and the errors of the operations.
    package func transform(_ image: Image) throws(WebImageError) -> Image {
        var image = image
        if options.autoRotate == false { image = try asStored(image) }
        let extent = ImageExtent(image)
        var source =
            source
            ?? VariantLayout.Source(
                PixelSize(extent.width, extent.height),
                isVector: image.metadata.isVector
            )
        if options.trim.threshold != nil { (image, source) = try trimmed(image, source) }
        let layout: VariantLayout
        do throws(ServerError) {
            layout = try VariantLayout(options, source: source)
        } catch {
            throw WebImageError(.limitExceeded, error.message)
        }
        image = try scaled(image, source, layout)
        image = try oriented(image, layout.orientation)
        image = try cropped(image, layout)
        image = try withEffects(image)
        for canvas in layout.canvases { image = try placed(image, on: canvas) }
        image = try withBackground(image)
        if let watermark { image = try drawing(watermark, on: image, layout) }
        switch layout.resultRotation {
        case 90: return try image.reoriented(.right)
        case 180: return try image.reoriented(.down)
        case 270: return try image.reoriented(.left)
        default: return image
        }
    }

    /// Returns the memory cost: the result, and the two largest images on the way, with alpha.
    package func memoryNeed(of input: ImageExtent) -> TransformMemoryNeed {
        let size = PixelSize(max(input.width, 1), max(input.height, 1))
        let need = memoryNeed(of: input, source: source ?? VariantLayout.Source(size))
        guard options.autoRotate == false, source == nil else { return need }
        // The image may have been stored on its side: only its metadata says so.
        let turned = memoryNeed(of: input, source: VariantLayout.Source(size.swapped))
        return need.workingByteCount > turned.workingByteCount ? need : turned
    }

    private func memoryNeed(of input: ImageExtent, source: VariantLayout.Source) -> TransformMemoryNeed {
        var layout: VariantLayout?
        do throws(ServerError) { layout = try VariantLayout(options, source: source) } catch { layout = nil }
        guard let layout else { return TransformMemoryNeed(output: input.making(0, 0), workingByteCount: 0) }
        let sizes =
            [layout.scaled, layout.resultCrop.size(in: layout.orientation.size(of: layout.scaled))]
            + layout.canvases.map(\.size)
        let largest = sizes.map { input.making($0.width, $0.height, bytesPerPixel: 4).byteCount }.max() ?? 0
        let output = input.making(layout.size.width, layout.size.height, bytesPerPixel: 4)
        let trimming = options.trim.threshold == nil ? 0 : 2 * input.byteCount
        let turning = options.autoRotate == false ? input.byteCount : 0
        return TransformMemoryNeed(
            output: output,
            workingByteCount: 2 * largest + trimming + turning + input.narrowUprightByteCount
        )
    }

    // MARK: Steps

    /// Undoes the orientation that the decoder has applied.
    private func asStored(_ image: Image) throws(WebImageError) -> Image {
        switch image.metadata.sourceOrientation {
        case .up: image
        case .right: try image.reoriented(.left)
        case .left: try image.reoriented(.right)
        // All others are their own opposites.
        case let other: try image.reoriented(other)
        }
    }

    private func trimmed(
        _ image: Image,
        _ source: VariantLayout.Source
    ) throws(WebImageError) -> (Image, VariantLayout.Source) {
        let trim = options.trim
        let rule = BorderRule(color: trim.borderColor, threshold: trim.threshold ?? 0, usesDistance: trim.usesDistance)
        guard var part = try image.partWithoutBorder(rule) else { return (image, source) }
        let extent = ImageExtent(image)
        if trim.equalHorizontal {
            let margin = min(part.x, extent.width - part.x - part.width)
            (part.x, part.width) = (margin, extent.width - 2 * margin)
        }
        if trim.equalVertical {
            let margin = min(part.y, extent.height - part.y - part.height)
            (part.y, part.height) = (margin, extent.height - 2 * margin)
        }
        let cropped = try image.croppedPixels(x: part.x, y: part.y, width: part.width, height: part.height)
        var source = source
        source.size = PixelSize(
            max(part.width * source.size.width / extent.width, 1),
            max(part.height * source.size.height / extent.height, 1)
        )
        return (cropped, source)
    }

    /// Crops and scales.
    private func scaled(
        _ image: Image,
        _ source: VariantLayout.Source,
        _ layout: VariantLayout
    ) throws(WebImageError) -> Image {
        let decoded = ImageExtent(image)
        let across = Double(decoded.width) / Double(source.size.width)
        let down = Double(decoded.height) / Double(source.size.height)
        let area: ImageRect
        switch layout.crop {
        case .whole:
            area = ImageRect(x: 0, y: 0, width: decoded.width, height: decoded.height)
        case .region(let region):
            area = ImageRect(
                x: Double(region.x) * across,
                y: Double(region.y) * down,
                width: Double(region.size.width) * across,
                height: Double(region.size.height) * down
            )
        case .salient(let size):
            let width = min(max(Int((Double(size.width) * across).rounded()), 1), decoded.width)
            let height = min(max(Int((Double(size.height) * down).rounded()), 1), decoded.height)
            let (x, y) = try image.salientPart(width: width, height: height)
            area = ImageRect(x: x, y: y, width: width, height: height)
        }
        return try image.resampled(area, width: layout.scaled.width, height: layout.scaled.height)
    }

    private func oriented(_ image: Image, _ orientation: VariantOrientation) throws(WebImageError) -> Image {
        var image = image
        switch orientation.rotation {
        case 90: image = try image.reoriented(.right)
        case 180: image = try image.reoriented(.down)
        case 270: image = try image.reoriented(.left)
        default: break
        }
        guard orientation.flipsHorizontally || orientation.flipsVertically else { return image }
        return try image.flipped(
            horizontally: orientation.flipsHorizontally,
            vertically: orientation.flipsVertically
        )
    }

    private func cropped(_ image: Image, _ layout: VariantLayout) throws(WebImageError) -> Image {
        switch layout.resultCrop {
        case .whole: return image
        case .region(let region):
            return try image.croppedPixels(
                x: region.x,
                y: region.y,
                width: region.size.width,
                height: region.size.height
            )
        case .salient(let size):
            let (x, y) = try image.salientPart(width: size.width, height: size.height)
            return try image.croppedPixels(x: x, y: y, width: size.width, height: size.height)
        }
    }

    private func withEffects(_ image: Image) throws(WebImageError) -> Image {
        var image = image
        if options.blur > 0 { image = try image.gaussianBlurred(sigma: options.blur) }
        if options.sharpen > 0 { image = try image.sharpened(sigma: options.sharpen) }
        if options.pixelate > 1 { image = try image.pixelated(side: options.pixelate) }
        for effect in options.colorEffects { image = try image.applying(effect.matrix) }
        return image
    }

    private func placed(_ image: Image, on canvas: VariantLayout.Canvas) throws(WebImageError) -> Image {
        let (width, height) = (canvas.size.width, canvas.size.height)
        var color = ImageColor.clear
        switch canvas.background {
        case nil: break
        case .color(let given): color = given
        case .meanColor: color = try image.meanColor()
        case .blurredImage:
            let extent = ImageExtent(image)
            let whole = ImageRect(x: 0, y: 0, width: extent.width, height: extent.height)
            let below = try image.gaussianBlurred(sigma: 50).resampled(whole, width: width, height: height)
            return try below.drawing(image, x: canvas.x, y: canvas.y)
        }
        return try image.extended(toWidth: width, height: height, x: canvas.x, y: canvas.y, color: color)
    }

    private func withBackground(_ image: Image) throws(WebImageError) -> Image {
        switch options.background {
        case .color(let color): return try image.flattened(onto: color)
        case .meanColor: return try image.flattened(onto: try image.meanColor())
        case .blurredImage, nil: return isOpaque ? try image.flattened(onto: .white) : image
        }
    }
}

extension VariantTrim {
    fileprivate var borderColor: BorderRule.Color {
        switch color {
        case .topLeft: .topLeft
        case .bottomRight: .bottomRight
        case .given(let color): .given(color)
        }
    }
}

extension VariantColorEffect {
    fileprivate var matrix: ColorMatrix {
        switch self {
        case .brightness(let amount):
            ColorMatrix(
                red: ColorMatrix.Row(1, 0, 0, offset: amount),
                green: ColorMatrix.Row(0, 1, 0, offset: amount),
                blue: ColorMatrix.Row(0, 0, 1, offset: amount)
            )
        case .contrast(let factor): .contrast(factor)
        case .saturation(let factor): .saturation(factor)
        case .grayscale: .grayscale
        }
    }
}
