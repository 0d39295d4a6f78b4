import FoundationEssentials
import TestSupport
import WebImage

/// Decodes with options, in pieces, and frame by frame.
extension ImageCheck {
    /// Options that follow from the bytes.
    mutating func variation() -> ImageDecodeOptions {
        var varied = options
        varied.thumbnailPixelSize = ImageSize(
            width: Int.random(in: 1...64, using: &random),
            height: Int.random(in: 1...64, using: &random)
        )
        varied.preserveAspectRatio = .random(using: &random)
        varied.scalingQuality = .random(using: &random) ? .high : .fast
        varied.decodeFirstFrameOnly = .random(using: &random)
        varied.decodeToHDR = .random(using: &random)
        varied.scaleDownLimitBytes = .random(using: &random) ? 4096 : 0
        let formats: [PixelFormat?] = [nil, nil, .rgb8, .bgra8Premultiplied, .rgbaHalfPremultiplied]
        varied.pixelFormat = formats.randomElement(using: &random) ?? nil
        return varied
    }

    func checkSize(_ image: Image?, _ options: ImageDecodeOptions) throws(FuzzFinding) {
        guard let image, let box = options.thumbnailPixelSize else { return }
        try must(
            Double(image.pixelWidth) <= box.width && Double(image.pixelHeight) <= box.height,
            "a thumbnail of \(image.pixelWidth)x\(image.pixelHeight) does not fit into \(box)"
        )
        if let complaint = image.bitmap.complaint { throw FuzzFinding("of the thumbnail: \(complaint)") }
    }

    /// An image decoded in pieces must equal one decoded at once.
    mutating func checkProgressive(
        _ whole: Image?,
        _ small: Image?,
        _ varied: ImageDecodeOptions
    ) throws(FuzzFinding) {
        guard let coder = coder as? any ProgressiveImageCoder, coder.canDecodeIncrementally(data) else { return }
        let isVaried = Bool.random(using: &random)
        let pieces = ProgressiveOutcome.pieces(of: data.count, &random)
        var steps = 0
        let outcome = ProgressiveOutcome(pieces: pieces, of: data, coder, isVaried ? varied : options) {
            (decoder) throws(WebImageError) in
            steps += 1
            // Previews take time, so not all pieces have one.
            guard steps < 6 || steps % 16 == 0 else { return }
            let preview = try decoder.image(maximumPreviewPixelCount: 500)
            guard let animation = preview?.animation else { return }
            _ = try? animation.frame(at: steps % animation.frameCount)
        }
        switch (outcome, isVaried ? small : whole) {
        case (.image(let image), let expected?): try must(image.isSame(as: expected), "pixels differ in \(pieces)")
        case (.image, nil): throw FuzzFinding("only the data in pieces decodes: \(pieces)")
        case (.failure(let error), _?): throw FuzzFinding("only the whole data decodes: \(error), \(pieces)")
        case (.failure(let error), nil): try Self.checkCode(error)
        }
    }

    mutating func checkAnimation(_ whole: Image?, _ properties: ImageProperties?) throws(FuzzFinding) {
        guard let coder = coder as? any AnimatedImageCoder else { return }
        let animation: any AnimatedImageProvider
        do throws(WebImageError) {
            animation = try coder.animation(of: data, options: options)
        } catch { return try Self.checkCode(error) }
        guard let properties else { throw FuzzFinding("an animation without a header") }
        let count = animation.frameCount
        try must(count == properties.frameCount, "\(count) frames for \(properties.frameCount) of the header")
        var frames: [Image?] = []
        for index in 0..<min(count, 6) { frames.append(try frame(index, of: animation)) }
        for case let frame? in frames {
            let size = properties.uprightSize
            try must((frame.pixelWidth, frame.pixelHeight) == size, "a frame is of another size than the canvas")
            if let complaint = frame.bitmap.complaint { throw FuzzFinding("of a frame: \(complaint)") }
        }
        guard !showsUsedMemory else { return }
        // Back, from cached frames and from none.
        if Bool.random(using: &random) { animation.releaseDecoder() }
        let index = Int.random(in: 0..<frames.count, using: &random)
        Self.soil(frames[index]?.pixelByteCount ?? 0)
        guard let again = try frame(index, of: animation), let first = frames[index] else { return }
        try must(again.isSame(as: first), "frame \(index) is another one when it is decoded again")
    }

    private func frame(_ index: Int, of animation: any AnimatedImageProvider) throws(FuzzFinding) -> Image? {
        do throws(WebImageError) {
            let duration = animation.duration(at: index)
            // By itself an image's value means nothing.
            let isShown = duration.isFinite && (duration > 0 || animation.frameCount == 1)
            guard isShown else { throw WebImageError(.transformFailed, "it takes \(duration) s") }
            return try animation.frame(at: index)
        } catch {
            try Self.checkCode(error)
            return nil
        }
    }
}
