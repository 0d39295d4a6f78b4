/// How big a picture may be that was asked for with some options: what decoders make of them, whoever answers has to keep to.
struct PictureBounds: Sendable {
    private let options: ImageDecodeOptions

    /// Rows are padded, a little.
    private static let mostPadding = 64

    init(_ options: ImageDecodeOptions) { self.options = options }

    /// - Parameters:
    ///   - width: of the upright picture.
    ///   - height: of the upright picture.
    ///   - frameCount: how many frames it says that it has.
    /// - Throws: when no decoder makes so many pixels of the options.
    func hold(width: Int, height: Int, frameCount: Int) throws(WireError) {
        if let box {
            let (isWithin, isBelow) = (width <= box.width, height <= box.height)
            guard covers ? isWithin || isBelow : isWithin && isBelow else {
                throw WireError("a picture of \(width)x\(height) is bigger than the one that was asked for")
            }
        }
        guard let most = mostPixels(frameCount: options.decodeFirstFrameOnly ? 1 : frameCount) else { return }
        guard width * height <= most else {
            throw WireError("a picture of \(width)x\(height) takes more bytes than were asked for")
        }
    }

    /// Most bytes of its memory.
    var byteCount: Int {
        let limits = options.limits
        let longest = min(max(limits.maximumSideLength, 1), WireLimit.side)
        var pixels = min(longest * longest, max(limits.maximumPixelCount, 1))
        var rows = longest
        if let box {
            let (width, height) = (min(box.width, longest), min(box.height, longest))
            // A side may be the other one still: nobody knows how the picture was taken.
            if !covers { rows = max(width, height) }
            pixels = min(pixels, covers ? max(width, height) * longest : width * height)
        }
        if let most = mostPixels(frameCount: 1) { pixels = min(pixels, most) }
        return min(pixels * 8, limits.mostPixelBytes) + rows * Self.mostPadding + WireLimit.offset
    }

    /// With a box, one side at least is no longer than its, and both are unless it is to be covered. Drawings are made as big as it is.
    private var box: (width: Int, height: Int)? {
        guard let box = options.thumbnailPixelSize, box.isUsable else { return nil }
        return (Self.side(box.width), Self.side(box.height))
    }

    private var covers: Bool { options.preserveAspectRatio && options.thumbnailCovers }

    /// Pixels of one frame that the byte limit leaves; nil without one.
    private func mostPixels(frameCount: Int) -> Int? {
        guard options.scaleDownLimitBytes > 0 else { return nil }
        return max(options.scaleDownLimitBytes / 4 / max(frameCount, 1), 1)
    }

    private static func side(_ value: Double) -> Int {
        max(Int(min(value.rounded(.up), Double(WireLimit.side))), 1)
    }
}

extension ImageLimits {
    /// Most bytes of pixels. From the header some count 3 bytes for a pixel that then takes 4.
    var mostPixelBytes: Int { (min(max(maximumDecodedByteCount, 0), 1 << 48) / 3 + 1) * 4 }
}

extension IsolationTask {
    /// Most bytes of the memory of the picture that is made; nil where none is.
    var mostPictureBytes: Int? {
        switch self {
        case .properties, .need, .animation: nil
        case .decode(let options), .frame(_, _, let options): PictureBounds(options).byteCount
        }
    }
}
