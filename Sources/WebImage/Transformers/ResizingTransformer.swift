/// How a picture fills a rectangle of another shape.
public enum ImageScaleMode: Int, Sendable, Hashable, CaseIterable {
    /// Stretched to the rectangle.
    case fill = 0
    /// As big as fits, centred, with transparent bars.
    case aspectFit = 1
    /// As small as covers, centred, what hangs over is cut off.
    case aspectFill = 2
}

/// Makes an image exactly the size that is asked for, smaller or bigger; see ``Image/resized(to:scaleMode:)``.
public struct ResizingTransformer: ImageTransformer {
    /// The size of the result in points.
    public let size: ImageSize
    /// How the picture fills it.
    public let scaleMode: ImageScaleMode
    /// Whether metadata is copied to the result. True by default.
    public var preservesImageMetadata = true

    /// A transformer to `size` points.
    ///
    /// - Parameters:
    ///   - size: the size of the result in points.
    ///   - scaleMode: how the picture fills it.
    public init(size: ImageSize, scaleMode: ImageScaleMode) {
        self.size = size
        self.scaleMode = scaleMode
    }

    /// `SDImageResizingTransformer({width,height},mode)` with six decimals.
    public var transformerKey: String {
        let width = FixedDecimal.string(size.width)
        let height = FixedDecimal.string(size.height)
        return "SDImageResizingTransformer({\(width),\(height)},\(scaleMode.rawValue))"
    }

    /// The resized image.
    ///
    /// - Throws: what ``Image/resized(to:scaleMode:)`` throws.
    public func transform(_ image: Image) throws(WebImageError) -> Image {
        handingOut(try image.resized(to: size, scaleMode: scaleMode))
    }

    /// The picture of that size, rows that are filtered, and with bars the picture without them.
    public func memoryNeed(of input: ImageExtent) -> TransformMemoryNeed {
        guard var output = try? input.resized(to: size) else {
            return TransformMemoryNeed(output: input.making(0, 0), workingByteCount: 0)
        }
        let (seen, drawn) = steps(from: input, to: output)
        var working = input.uprightByteCount
        working += AssemblyNeed.resampling(seen, to: drawn, bytesPerPixel: input.bytesPerPixel)
        if scaleMode == .aspectFit {
            output.bytesPerPixel = max(input.bytesPerPixel, 4)
            let inner = output.making(drawn.width, drawn.height)
            working += 2 * inner.byteCount
        }
        return TransformMemoryNeed(output: output, workingByteCount: working)
    }

    private typealias PixelSize = (width: Int, height: Int)

    /// About what is seen of the picture, and the size that this is resampled to.
    private func steps(from input: ImageExtent, to output: ImageExtent) -> (seen: PixelSize, drawn: PixelSize) {
        let (all, target) = ((input.width, input.height), (output.width, output.height))
        let across = Double(output.width) / Double(max(input.width, 1))
        let down = Double(output.height) / Double(max(input.height, 1))
        func part(_ side: Int, by factor: Double, of most: Int) -> Int {
            Int(min((Double(side) * factor).rounded(.up), Double(most)))
        }
        switch scaleMode {
        case .fill: return (all, target)
        case .aspectFit:
            let factor = min(across, down)
            return (
                all,
                (
                    part(input.width, by: factor, of: output.width),
                    part(input.height, by: factor, of: output.height)
                )
            )
        case .aspectFill:
            // The filter reaches three pixels further.
            let factor = max(across, down)
            return (
                (
                    part(output.width, by: 1 / factor, of: input.width - 7) + 7,
                    part(output.height, by: 1 / factor, of: input.height - 7) + 7
                ), target
            )
        }
    }
}
