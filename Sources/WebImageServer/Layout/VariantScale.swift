/// The sizes of a result before anything is placed: a part of ``VariantLayout``.
struct VariantScale {
    /// The size of the scaled image.
    private(set) var scaled = PixelSize(1, 1)
    /// The size that the request names, with pixels per point and zoom; 0 for a side that it does not name.
    private(set) var targetWidth = 0
    private(set) var targetHeight = 0
    /// The sides of the part of the scaled image that stays; nil for the whole side.
    private(set) var resultCropWidth: Int?
    private(set) var resultCropHeight: Int?
    /// The size of the request's aspect ratio around the result; nil if it is not extended to it.
    private(set) var aspectSize: PixelSize?
    /// The pixels per point, less than those of the request if the image is too small for them.
    private(set) var pixelsPerPoint = 1.0

    private let source: PixelSize
    private let width: Int
    private let height: Int
    private var shrinkX = 1.0
    private var shrinkY = 1.0

    /// Computes the sizes for an image.
    init(_ options: VariantOptions, of image: PixelSize, isVector: Bool) {
        source = image
        (width, height) = Self.wanted(options, for: image)
        computeFactors(options, isVector: isVector)
        computeSizes(options)
        limitResult(options)
    }

    /// Returns the width and height of a request in pixels, 0 for automatic.
    private static func wanted(_ options: VariantOptions, for image: PixelSize) -> (width: Int, height: Int) {
        func pixels(_ length: VariantLength, _ side: Int) -> Int {
            switch length {
            case .automatic: 0
            case .original: side
            case .pixels(let pixels): min(max(pixels, 0), 1 << 30)
            }
        }
        let (width, height) = (pixels(options.width, image.width), pixels(options.height, image.height))
        let differs = (width > height && image.width < image.height) || (width < height && image.width > image.height)
        return options.isAdaptive && differs && width > 0 && height > 0 ? (height, width) : (width, height)
    }

    /// Computes by what the sides are divided.
    private mutating func computeFactors(_ options: VariantOptions, isVector: Bool) {
        let (sourceX, sourceY) = (Double(source.width), Double(source.height))
        if width > 0 { shrinkX = sourceX / Double(width) }
        if height > 0 { shrinkY = sourceY / Double(height) }
        if shrinkX != 1 || shrinkY != 1 { applyResizingType(options.resizingType) }
        shrinkX /= Self.factor(options.zoomWidth)
        shrinkY /= Self.factor(options.zoomHeight)
        pixelsPerPoint = Self.factor(options.dpr)
        if !options.enlarge, !isVector {
            let least = min(shrinkX, shrinkY)
            if least < 1 {
                shrinkX /= least
                shrinkY /= least
                // The size is not reached anyway. Fewer pixels per point do not make the image still smaller, unless it is extended: then
                // all variants look alike.
                if !options.extend.isEnabled { pixelsPerPoint /= least }
            }
            pixelsPerPoint = min(pixelsPerPoint, min(shrinkX, shrinkY))
        }
        if options.minWidth > 0, case let least = sourceX / Double(options.minWidth), least < shrinkX {
            shrinkY /= shrinkX / least
            shrinkX = least
        }
        if options.minHeight > 0, case let least = sourceY / Double(options.minHeight), least < shrinkY {
            shrinkX /= shrinkY / least
            shrinkY = least
        }
        // No side becomes less than a pixel.
        shrinkX = min(shrinkX / pixelsPerPoint, sourceX)
        shrinkY = min(shrinkY / pixelsPerPoint, sourceY)
    }

    private mutating func applyResizingType(_ type: VariantResizingType) {
        if type != .force, width == 0 {
            shrinkX = shrinkY
            return
        }
        if type != .force, height == 0 {
            shrinkY = shrinkX
            return
        }
        let covers: Bool
        switch type {
        case .force: return
        case .fit: covers = false
        case .fill, .fillDown, .cover: covers = true
        case .auto: covers = (source.width >= source.height) == (width >= height)
        }
        shrinkX = covers ? min(shrinkX, shrinkY) : max(shrinkX, shrinkY)
        shrinkY = shrinkX
    }

    private mutating func computeSizes(_ options: VariantOptions) {
        targetWidth = Self.rounded(Double(width) * pixelsPerPoint * Self.factor(options.zoomWidth))
        targetHeight = Self.rounded(Double(height) * pixelsPerPoint * Self.factor(options.zoomHeight))
        scaled = PixelSize(
            max(Self.rounded(Double(source.width) / shrinkX), 1),
            max(Self.rounded(Double(source.height) / shrinkY), 1)
        )
        (resultCropWidth, resultCropHeight) = (nil, nil)
        if options.resizingType != .cover {
            if targetWidth > 0 { resultCropWidth = targetWidth }
            if targetHeight > 0 { resultCropHeight = targetHeight }
        }
        let (lackX, lackY) = lack(of: scaled)
        if options.resizingType == .fillDown, !options.enlarge, targetWidth > 0, targetHeight > 0 {
            // Too small for the size: only the aspect ratio is kept.
            if lackX > lackY, lackX > 1 {
                resultCropWidth = scaled.width
                resultCropHeight = Self.atLeastOne(Double(scaled.width) * Double(targetHeight) / Double(targetWidth))
            } else if lackY > lackX, lackY > 1 {
                resultCropWidth = Self.atLeastOne(Double(scaled.height) * Double(targetWidth) / Double(targetHeight))
                resultCropHeight = scaled.height
            }
        }
        aspectSize = nil
        guard options.extendAspectRatio.isEnabled, targetWidth > 0, targetHeight > 0 else { return }
        let result = resultSize
        let (outX, outY) = lack(of: result)
        if outY > outX {
            let height = Self.rounded(Double(result.width) * Double(targetHeight) / Double(targetWidth))
            aspectSize = PixelSize(result.width, height)
        } else if outX > outY {
            let width = Self.rounded(Double(result.height) * Double(targetWidth) / Double(targetHeight))
            aspectSize = PixelSize(width, result.height)
        }
    }

    /// The size after the crop to the result.
    private var resultSize: PixelSize {
        PixelSize(min(scaled.width, resultCropWidth ?? .max), min(scaled.height, resultCropHeight ?? .max))
    }

    /// The ratio of the size of the request to that of an image.
    private func lack(of image: PixelSize) -> (x: Double, y: Double) {
        (Double(targetWidth) / Double(image.width), Double(targetHeight) / Double(image.height))
    }

    /// Makes everything smaller if the result would exceed the request's limit of its sides.
    private mutating func limitResult(_ options: VariantOptions) {
        guard let limit = options.limits.resultSide, limit > 0 else { return }
        var result = resultSize
        if options.extend.isEnabled {
            result = PixelSize(max(result.width, targetWidth), max(result.height, targetHeight))
        } else if let aspectSize {
            result = PixelSize(max(result.width, aspectSize.width), max(result.height, aspectSize.height))
        }
        let padding = padding(options)
        let side = max(result.width + padding.left + padding.right, result.height + padding.top + padding.bottom)
        guard side > limit else { return }
        let factor = Double(limit) / Double(side)
        shrinkX = min(shrinkX / factor, Double(source.width))
        shrinkY = min(shrinkY / factor, Double(source.height))
        pixelsPerPoint *= factor
        computeSizes(options)
    }

    /// Returns the padding in pixels.
    func padding(_ options: VariantOptions) -> VariantPadding {
        func scaled(_ points: Int) -> Int {
            Int(min(max((Double(points) * pixelsPerPoint).rounded(.toNearestOrEven), 0), 0x1p30))
        }
        var padding = options.padding
        padding.top = scaled(padding.top)
        padding.right = scaled(padding.right)
        padding.bottom = scaled(padding.bottom)
        padding.left = scaled(padding.left)
        return padding
    }

    /// Limits a factor to what makes sense, so that products stay finite.
    private static func factor(_ factor: Double) -> Double { min(max(factor, 1e-6), 1e6) }

    private static func atLeastOne(_ number: Double) -> Int { max(rounded(number), 1) }

    /// Rounds to the nearest whole number, halves up, up to 2³⁰.
    static func rounded(_ number: Double) -> Int { number > 0 ? Int(min(number.rounded(), 0x1p30)) : 0 }
}
