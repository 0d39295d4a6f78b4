import WebImage

/// Makes the geometry of a variant: crop, scale, rotate, flip, crop to the result.
struct VariantTransformer: ImageTransformer {
    let options: VariantOptions

    /// Contains only the options that the transformer uses.
    var transformerKey: String {
        let sizes = "\(options.resizingType.rawValue),\(options.width),\(options.height),\(options.isAdaptive)"
        let limits = "\(options.minWidth),\(options.minHeight),\(options.zoomWidth),\(options.zoomHeight)"
        let rest = "\(options.dpr),\(options.enlarge),\(key(options.gravity)),\(options.rotate)"
        let flips = "\(options.flipHorizontal),\(options.flipVertical)"
        let crop = "\(options.crop.width),\(options.crop.height),\(options.crop.gravity.map(key) ?? "")"
        return "Variant(\(sizes);\(limits);\(rest);\(flips);\(crop))"
    }

    private func key(_ gravity: VariantGravity) -> String {
        "\(gravity.kind.rawValue):\(gravity.xOffset):\(gravity.yOffset)"
    }

    func transform(_ image: Image) throws(WebImageError) -> Image {
        var image = try cropped(image)
        if options.rotate != 0 {
            // The angle of the transformer is counter-clockwise.
            image = try image.rotated(by: -Double(options.rotate) * .pi / 180)
        }
        if options.flipHorizontal || options.flipVertical {
            image = try image.flipped(horizontally: options.flipHorizontal, vertically: options.flipVertical)
        }
        let extent = ImageExtent(image)
        let size = VariantSize(options, sourceWidth: extent.width, sourceHeight: extent.height)
        if (size.scaledWidth, size.scaledHeight) != (extent.width, extent.height) {
            image = try image.resized(to: points(size.scaledWidth, size.scaledHeight, of: image), scaleMode: .fill)
        }
        return try part(of: image, size.width, size.height, options.gravity)
    }

    /// Returns the part of the source that is processed.
    private func cropped(_ image: Image) throws(WebImageError) -> Image {
        guard options.crop.width > 0 || options.crop.height > 0 else { return image }
        let extent = ImageExtent(image)
        func side(_ length: Double, _ whole: Int) -> Int {
            guard length > 0 else { return whole }
            let pixels = length < 1 ? length * Double(whole) : length
            return min(max(Int(pixels.rounded()), 1), whole)
        }
        let width = side(options.crop.width, extent.width)
        let height = side(options.crop.height, extent.height)
        return try part(of: image, width, height, options.crop.gravity ?? options.gravity)
    }

    private func part(
        of image: Image,
        _ width: Int,
        _ height: Int,
        _ gravity: VariantGravity
    ) throws(WebImageError) -> Image {
        let extent = ImageExtent(image)
        guard width < extent.width || height < extent.height else { return image }
        let x = gravity.begin(of: width, in: extent.width, isHorizontal: true, dpr: options.dpr)
        let y = gravity.begin(of: height, in: extent.height, isHorizontal: false, dpr: options.dpr)
        let scale = image.scale
        return try image.cropped(
            to: ImageRect(
                x: Double(x) / scale,
                y: Double(y) / scale,
                width: Double(width) / scale,
                height: Double(height) / scale
            )
        )
    }

    private func points(_ width: Int, _ height: Int, of image: Image) -> ImageSize {
        ImageSize(width: Double(width) / image.scale, height: Double(height) / image.scale)
    }

    func memoryNeed(of input: ImageExtent) -> TransformMemoryNeed {
        let turns = options.rotate % 180 != 0
        let (width, height) = turns ? (input.height, input.width) : (input.width, input.height)
        let size = VariantSize(options, sourceWidth: width, sourceHeight: height)
        var output = input
        (output.width, output.height) = (size.width, size.height)
        var scaled = output
        (scaled.width, scaled.height) = (size.scaledWidth, size.scaledHeight)
        // At most three copies of the source live at a time, and the scaled image.
        return TransformMemoryNeed(output: output, workingByteCount: 3 * input.byteCount + scaled.byteCount)
    }
}
