package import FoundationEssentials

extension Image {
    /// Returns the format in which to store the image: its own if the coder writes it, it is compressed and it can hold the image;
    /// otherwise PNG for an image with alpha and for a PDF page, and JPEG for others. For an animation that its own format cannot hold,
    /// see ``AnimatedImageEncoder/format(of:options:)``.
    package func encodingFormat(of coder: any ImageCoder, options: ImageEncodeOptions) -> ImageFormat {
        if let animation, !options.encodeFirstFrameOnly {
            if coder.writesAnimations(as: format) { return format }
            if let other = (coder as? any AnimatedImageEncoder)?.format(of: animation, options: options),
                coder.writesAnimations(as: other)
            {
                return other
            }
        }
        let losesAlpha = hasAlpha && format == .jpeg
        // An image read from a GIF file is often scaled or transformed, and then has more colours than GIF can hold.
        let losesPixels = losesAlpha || format == .gif
        // BMP is not compressed.
        let isUseful = format != .undefined && format != .bmp && !losesPixels
        if isUseful, coder.canEncode(to: format) { return format }
        // JPEG blurs the lines and the text of pages.
        return hasAlpha || format == .pdf ? .png : .jpeg
    }
}

extension ImageCoder {
    fileprivate func writesAnimations(as format: ImageFormat) -> Bool {
        (self as? any AnimatedImageEncoder)?.canEncodeAnimation(to: format) ?? false
    }

    /// Encodes an image with its frames if it has any and the format supports them; else as a still image.
    package func encodeImageOrAnimation(
        _ image: Image,
        to format: ImageFormat,
        options: ImageEncodeOptions
    ) throws(WebImageError) -> Data {
        guard !options.encodeFirstFrameOnly, let animation = image.animation,
            let encoder = self as? any AnimatedImageEncoder, encoder.canEncodeAnimation(to: format)
        else { return try encode(image, to: format, options: options) }
        return try encoder.encode(animation, to: format, options: options)
    }
}
