import FoundationEssentials

/// Makes the previews of an animation that is still downloading: its first frame, and the frames that are complete so far.
///
/// A preview with more frames continues on the canvas of the one before it, so a player that follows the download decodes each frame once.
final class AnimationPreviews {
    /// The state of the file so far.
    struct File {
        var properties: ImageProperties
        var plan: DecodePlan
        /// The number of complete frames.
        var frameCount: Int
    }

    /// Opens the complete frames with other options, on the canvas of an animation with fewer of them.
    typealias Open = (
        _ file: ImageProperties, _ options: ImageDecodeOptions, _ former: ComposedAnimation?
    ) throws(WebImageError) -> ComposedAnimation

    private let options: ImageDecodeOptions
    private var animation: ComposedAnimation?
    /// The preview of a complete first frame, and what it depends on.
    private var first: (image: Image, plan: DecodePlan, maximumPixelCount: Int)?

    init(options: ImageDecodeOptions) { self.options = options }

    /// Returns a preview: animated once there are two complete frames, unless only the first one is requested.
    ///
    /// - Parameters:
    ///   - isFirstComplete: whether the first frame is complete; its preview is then made only once.
    ///   - rows: returns the rows of the first frame.
    /// - Throws: the errors of decoding.
    func preview(
        of file: File,
        maximumPixelCount: Int,
        isFirstComplete: Bool,
        rows: () throws(WebImageError) -> any ReceivedRows,
        open: Open
    ) throws(WebImageError) -> Image? {
        try preview(
            of: file,
            maximumPixelCount: maximumPixelCount,
            isFirstComplete: isFirstComplete,
            makeFirst: { () throws(WebImageError) in
                try ImageAssembler.makePreview(
                    of: rows(),
                    properties: file.properties,
                    plan: file.plan,
                    options: options,
                    maximumPixelCount: maximumPixelCount
                )
            },
            open: open
        )
    }

    private func preview(
        of file: File,
        maximumPixelCount: Int,
        isFirstComplete: Bool,
        makeFirst: () throws(WebImageError) -> Image?,
        open: Open
    ) throws(WebImageError) -> Image? {
        guard
            let image = try first(
                of: file,
                maximumPixelCount: maximumPixelCount,
                isComplete: isFirstComplete,
                make: makeFirst
            )
        else { return nil }
        guard file.frameCount > 1, !options.decodeFirstFrameOnly else { return image }
        let size = (width: image.pixelWidth, height: image.pixelHeight)
        guard let animation = try opened(file, size: size, open) else { return image }
        return image.with(animation: AnimatedImage(provider: animation, first: image))
    }

    /// Returns a preview of complete frames, for an image whose first frame is not decoded row by row.
    func preview(of file: File, maximumPixelCount: Int, open: Open) throws(WebImageError) -> Image? {
        guard file.frameCount > 0 else { return nil }
        return try preview(
            of: file,
            maximumPixelCount: maximumPixelCount,
            isFirstComplete: true,
            makeFirst: { () throws(WebImageError) in
                let plan = file.plan.reduced(toPixels: maximumPixelCount)
                let swaps = plan.orientation.swapsSides
                let size = swaps ? (plan.height, plan.width) : (plan.width, plan.height)
                return try opened(file, size: size, open)?.frame(at: 0)
            },
            open: open
        )
    }

    private func first(
        of file: File,
        maximumPixelCount: Int,
        isComplete: Bool,
        make: () throws(WebImageError) -> Image?
    ) throws(WebImageError) -> Image? {
        let image: Image
        if let first, first.plan == file.plan, first.maximumPixelCount == maximumPixelCount {
            image = first.image
        } else {
            guard let made = try make() else { return nil }
            image = made
            first = isComplete ? (made, file.plan, maximumPixelCount) : nil
        }
        var metadata = ImageAssembler.metadata(file.properties, file.plan, options)
        metadata.isIncremental = true
        return Image(bitmap: image.bitmap, scale: image.scale, metadata: metadata, decodeOptions: options)
    }

    /// Returns an animation of the complete frames, with frames of that size; nil if the limits do not allow a canvas.
    private func opened(
        _ file: File,
        size: (width: Int, height: Int),
        _ open: Open
    ) throws(WebImageError) -> ComposedAnimation? {
        var properties = file.properties
        properties.frameCount = file.frameCount
        guard properties.width * properties.height * 4 <= options.limits.maximumDecodedByteCount else { return nil }
        var options = options
        options.thumbnailPixelSize = ImageSize(width: Double(size.width), height: Double(size.height))
        options.preserveAspectRatio = false
        options.scaleDownLimitBytes = 0
        options.pixelFormat = .bgra8Premultiplied
        let animation = try open(properties, options, animation)
        self.animation = animation
        return animation
    }
}
