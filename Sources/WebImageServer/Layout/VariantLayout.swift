/// The geometry of a result: what a request's options mean for a source of a given size.
///
/// A value without pixels; the rules and the roundings are imgproxy's. The steps are, in this order: ``crop`` of the source, scaling to
/// ``scaled``, ``orientation``, ``resultCrop``, effects, ``canvases``, background, watermark, ``resultRotation``.
package struct VariantLayout: Sendable, Hashable {
    /// A source, as its header describes it.
    package struct Source: Sendable, Hashable {
        /// The size in pixels, upright if the orientation in the metadata is applied.
        package var size: PixelSize
        /// Indicates whether it consists of shapes (SVG, PDF): then it is always enlarged.
        package var isVector: Bool

        /// Creates a source.
        ///
        /// - Parameters:
        ///   - size: the size in pixels.
        ///   - isVector: whether it consists of shapes; false by default.
        package init(_ size: PixelSize, isVector: Bool = false) {
            self.size = size
            self.isVector = isVector
        }
    }

    /// An image placed on a larger one.
    package struct Canvas: Sendable, Hashable {
        /// The size of the larger image.
        package var size: PixelSize
        /// The distance of the left edges.
        package var x: Int
        /// The distance of the top edges.
        package var y: Int
        /// The colour around the image if it is not that of the request.
        package var background: VariantBackground?
    }

    /// The part of the source that is processed, in its pixels.
    package let crop: PixelPart
    /// The size to which that part is scaled, before ``orientation``.
    package let scaled: PixelSize
    /// The rotation and reflection of the scaled part.
    package let orientation: VariantOrientation
    /// The part of the rotated one that stays.
    package let resultCrop: PixelPart
    /// The extensions and the padding, from the inside out.
    package let canvases: [Canvas]
    /// The clockwise rotation of the result in degrees.
    package let resultRotation: Int
    /// The pixels per point that offsets of the watermark are multiplied by: less than those of the request if the source is too small.
    package let pixelsPerPoint: Double
    /// The size of the result.
    package let size: PixelSize
    /// The size at which the whole source must be decoded at least; never larger than the source, unless it is a vector image.
    package let decodeSize: PixelSize

    /// Makes the layout.
    ///
    /// If ``VariantOptions/trim`` is on, the size must be that of the trimmed image, because trimming needs all pixels.
    ///
    /// - Parameters:
    ///   - options: the options of a request.
    ///   - source: the source.
    ///   - maximumSide: the largest side of any image on the way to the result; at least that of the source.
    ///   - maximumPixels: the largest number of pixels of any image on the way; at least that of the source.
    /// - Throws: ``ServerError`` with status 422 if an image would be larger.
    package init(
        _ options: VariantOptions,
        source: Source,
        maximumSide: Int = 16_384,
        maximumPixels: Int = 100_000_000
    ) throws(ServerError) {
        var orientation = VariantOrientation()
        orientation.rotation = options.rotate
        orientation.flipsHorizontally = options.flipHorizontal
        orientation.flipsVertically = options.flipVertical
        let whole = orientation.size(of: source.size)
        let wantedCrop = PixelSize(
            Self.cropSide(whole.width, options.crop.width),
            Self.cropSide(whole.height, options.crop.height)
        )
        let cropped = PixelSize(min(wantedCrop.width, whole.width), min(wantedCrop.height, whole.height))
        let scale = VariantScale(options, of: cropped, isVector: source.isVector)

        let crop = Self.part(cropped, of: whole, options.crop.gravity ?? options.gravity, pixelsPerPoint: 1)
        self.crop = Self.before(orientation, crop, in: whole)
        self.orientation = orientation
        scaled = orientation.size(of: scale.scaled)
        let gravity = Self.gravity(options, orientation, source: source.size, cropped: crop, of: whole)
        let resultSize = PixelSize(
            min(scale.resultCropWidth ?? .max, scale.scaled.width),
            min(scale.resultCropHeight ?? .max, scale.scaled.height)
        )
        resultCrop = Self.part(resultSize, of: scale.scaled, gravity, pixelsPerPoint: scale.pixelsPerPoint)
        canvases = Self.canvases(options, scale, around: resultSize)
        pixelsPerPoint = scale.pixelsPerPoint
        resultRotation = options.resultRotation
        let canvas = canvases.last?.size ?? resultSize
        size = options.resultRotation % 180 == 0 ? canvas : canvas.swapped
        decodeSize = Self.decodeSize(source, scaled: scaled, cropped: orientation.size(of: cropped), crop: crop)
        // The source has been accepted: images of its size are, too.
        let sourceSides = [source.size.width, source.size.height]
        let maximumSide = max(maximumSide, sourceSides.max() ?? 0)
        let maximumPixels = max(
            maximumPixels,
            sourceSides.reduce(1) { $0.multipliedReportingOverflow(by: $1).partialValue }
        )
        for image in [scaled, decodeSize] + canvases.map(\.size) {
            let (pixels, overflows) = image.width.multipliedReportingOverflow(by: image.height)
            guard max(image.width, image.height) <= maximumSide, !overflows, pixels <= maximumPixels else {
                throw ServerError(status: 422, message: "The result is too large")
            }
        }
    }

    /// Returns the side of a crop: in pixels from 1 on, a part of the image's side below, everything for 0.
    private static func cropSide(_ side: Int, _ wanted: Double) -> Int {
        switch wanted {
        case 0: side
        case 1...: Int(min(wanted, 0x1p30))
        default: max(1, VariantScale.rounded(Double(side) * wanted))
        }
    }

    /// Returns a part of an image at the place that a gravity gives.
    private static func part(
        _ part: PixelSize,
        of image: PixelSize,
        _ gravity: VariantGravity,
        pixelsPerPoint: Double
    ) -> PixelPart {
        if part.width >= image.width, part.height >= image.height { return .whole }
        if gravity.kind == .smart { return .salient(part) }
        let (x, y) = gravity.position(of: part, in: image, pixelsPerPoint: pixelsPerPoint)
        return .region(PixelRegion(x: x, y: y, width: part.width, height: part.height))
    }

    private static func before(
        _ orientation: VariantOrientation,
        _ part: PixelPart,
        in image: PixelSize
    ) -> PixelPart {
        switch part {
        case .whole: .whole
        case .region(let region): .region(orientation.regionBefore(region, in: image))
        case .salient(let size): .salient(orientation.size(of: size))
        }
    }

    /// Returns the gravity of the result's crop: that of the request, or the centre of its focal region if that lies within the crop.
    private static func gravity(
        _ options: VariantOptions,
        _ orientation: VariantOrientation,
        source: PixelSize,
        cropped: PixelPart,
        of whole: PixelSize
    ) -> VariantGravity {
        guard let focal = options.focalRegion else { return options.gravity }
        let point = orientation.pointAfter(
            x: (Double(focal.left) + Double(focal.right)) / 2 / Double(source.width),
            y: (Double(focal.top) + Double(focal.bottom)) / 2 / Double(source.height)
        )
        var (x, y) = point
        if case .region(let region) = cropped {
            x = (x * Double(whole.width) - Double(region.x)) / Double(region.size.width)
            y = (y * Double(whole.height) - Double(region.y)) / Double(region.size.height)
        }
        guard (0...1).contains(x), (0...1).contains(y) else { return options.gravity }
        return VariantGravity(.focusPoint, xOffset: x, yOffset: y)
    }

    /// Returns the extension to the size, that to the aspect ratio, and the padding, as far as they change anything.
    private static func canvases(
        _ options: VariantOptions,
        _ scale: VariantScale,
        around image: PixelSize
    ) -> [Canvas] {
        var canvases: [Canvas] = []
        var size = image
        func extend(to width: Int, _ height: Int, _ extension: VariantExtension) {
            let larger = PixelSize(max(width, size.width), max(height, size.height))
            guard larger != size else { return }
            let (x, y) = `extension`.gravity.position(of: size, in: larger, pixelsPerPoint: scale.pixelsPerPoint)
            canvases.append(Canvas(size: larger, x: x, y: y, background: `extension`.background))
            size = larger
        }
        if options.extend.isEnabled { extend(to: scale.targetWidth, scale.targetHeight, options.extend) }
        if let aspect = scale.aspectSize { extend(to: aspect.width, aspect.height, options.extendAspectRatio) }
        let padding = scale.padding(options)
        if padding != VariantPadding() {
            let larger = PixelSize(
                size.width + padding.left + padding.right,
                size.height + padding.top + padding.bottom
            )
            canvases.append(Canvas(size: larger, x: padding.left, y: padding.top))
        }
        return canvases
    }

    /// Returns the size at which the source is decoded: that of the scaled part for everything, and about twice as large if only a part of
    /// it is scaled, so that its edges do not have to lie on pixels.
    private static func decodeSize(
        _ source: Source,
        scaled: PixelSize,
        cropped: PixelSize,
        crop: PixelPart
    ) -> PixelSize {
        if crop == .whole {
            guard !source.isVector else { return scaled }
            return PixelSize(min(scaled.width, source.size.width), min(scaled.height, source.size.height))
        }
        func side(_ whole: Int, _ part: Int, _ target: Int) -> Int {
            let wanted = VariantScale.rounded(2 * Double(whole) * Double(target) / Double(part))
            return source.isVector ? max(wanted, 1) : min(max(wanted, 1), whole)
        }
        return PixelSize(
            side(source.size.width, cropped.width, scaled.width),
            side(source.size.height, cropped.height, scaled.height)
        )
    }
}

extension VariantGravity {
    /// Returns where a smaller image lies in a larger one: always within it, unless that is allowed.
    func position(
        of inner: PixelSize,
        in outer: PixelSize,
        pixelsPerPoint: Double,
        allowsOverflow: Bool = false
    ) -> (x: Int, y: Int) {
        var x: Int
        var y: Int
        if kind == .focusPoint {
            x = Self.even(Double(outer.width) * xOffset) - inner.width / 2
            y = Self.even(Double(outer.height) * yOffset) - inner.height / 2
        } else {
            let offsetX = Self.offset(xOffset, of: outer.width, pixelsPerPoint)
            let offsetY = Self.offset(yOffset, of: outer.height, pixelsPerPoint)
            x =
                switch kind {
                case .west, .northWest, .southWest: offsetX
                case .east, .northEast, .southEast: outer.width - inner.width - offsetX
                default: Self.even(Double(outer.width - inner.width + 1) / 2) + offsetX
                }
            y =
                switch kind {
                case .north, .northWest, .northEast: offsetY
                case .south, .southWest, .southEast: outer.height - inner.height - offsetY
                default: Self.even(Double(outer.height - inner.height + 1) / 2) + offsetY
                }
        }
        let (low, high) = (
            allowsOverflow ? 1 - inner.width : 0, allowsOverflow ? outer.width - 1 : outer.width - inner.width
        )
        let (top, bottom) =
            (allowsOverflow ? 1 - inner.height : 0, allowsOverflow ? outer.height - 1 : outer.height - inner.height)
        x = max(low, min(x, high))
        y = max(top, min(y, bottom))
        return (x, y)
    }

    /// In pixels from 1 on or down from -1, a part of the side between.
    static func offset(_ offset: Double, of side: Int, _ pixelsPerPoint: Double) -> Int {
        abs(offset) >= 1 ? even(offset * pixelsPerPoint) : even(Double(side) * offset)
    }

    /// Rounds to the nearest whole number, halves to the even one.
    private static func even(_ number: Double) -> Int {
        Int(min(max(number.rounded(.toNearestOrEven), -0x1p30), 0x1p30))
    }
}
