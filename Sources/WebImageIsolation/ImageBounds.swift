/// The maximum size of an image decoded with some options: a worker must obey the options like a decoder.
struct ImageBounds: Sendable {
    private let options: ImageDecodeOptions

    /// The maximum padding of a row in bytes.
    private static let mostPadding = 64

    init(_ options: ImageDecodeOptions) { self.options = options }

    /// Checks the size of an image.
    ///
    /// - Parameters:
    ///   - width: of the upright image.
    ///   - height: of the upright image.
    ///   - frameCount: the number of frames that it reports.
    /// - Throws: if no decoder makes so many pixels with the options.
    func hold(width: Int, height: Int, frameCount: Int) throws(WireError) {
        if let box {
            let (isWithin, isBelow) = (width <= box.width, height <= box.height)
            guard covers ? isWithin || isBelow : isWithin && isBelow else {
                throw WireError("an image of \(width)x\(height) is bigger than requested")
            }
        }
        guard let most = mostPixels(frameCount: options.decodeFirstFrameOnly ? 1 : frameCount) else { return }
        guard width * height <= most else {
            throw WireError("an image of \(width)x\(height) takes more bytes than requested")
        }
    }

    /// The maximum number of bytes of its memory.
    var byteCount: Int {
        let limits = options.limits
        let longest = min(max(limits.maximumSideLength, 1), WireLimit.side)
        var pixels = min(longest * longest, max(limits.maximumPixelCount, 1))
        var rows = longest
        if let box {
            let (width, height) = (min(box.width, longest), min(box.height, longest))
            // The sides may be swapped, because the orientation is not known yet.
            if !covers { rows = max(width, height) }
            pixels = min(pixels, covers ? max(width, height) * longest : width * height)
        }
        if let most = mostPixels(frameCount: 1) { pixels = min(pixels, most) }
        return min(pixels * 8, limits.mostPixelBytes) + rows * Self.mostPadding + WireLimit.offset
    }

    /// The box. At least one side of the image must not exceed the box's; neither side may, unless the box is to be covered.
    /// Drawings are rendered at its size.
    private var box: (width: Int, height: Int)? {
        guard let box = options.thumbnailPixelSize, box.isUsable else { return nil }
        return (Self.side(box.width), Self.side(box.height))
    }

    private var covers: Bool { options.preserveAspectRatio && options.thumbnailCovers }

    /// Returns the number of pixels of one frame within the byte limit; nil without a limit.
    private func mostPixels(frameCount: Int) -> Int? {
        guard options.scaleDownLimitBytes > 0 else { return nil }
        return max(options.scaleDownLimitBytes / 4 / max(frameCount, 1), 1)
    }

    private static func side(_ value: Double) -> Int {
        max(Int(min(value.rounded(.up), Double(WireLimit.side))), 1)
    }
}

extension ImageLimits {
    /// The maximum number of bytes of pixels. Some coders count 3 bytes per pixel from the header and then use 4.
    var mostPixelBytes: Int { (min(max(maximumDecodedByteCount, 0), 1 << 48) / 3 + 1) * 4 }
}

extension IsolationTask {
    /// The maximum number of bytes of the resulting image's memory; nil if the task makes no image.
    var maximumImageByteCount: Int? {
        switch self {
        case .properties, .need, .animation: nil
        case .regions(let task, _): task.maximumImageByteCount
        case .decode(let options), .frame(_, _, let options): ImageBounds(options).byteCount
        }
    }
}
