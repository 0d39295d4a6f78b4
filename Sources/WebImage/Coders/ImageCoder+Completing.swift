import FoundationEssentials

extension ImageCoder {
    /// Decodes, and says of the image what a coder of one's own may have left unsaid: that it is less than the bytes are must be
    /// known of an image before it is put anywhere.
    func completeImage(of data: Data, options: ImageDecodeOptions) throws(WebImageError) -> Image {
        try decode(data, options: options).completed(by: options)
    }
}

extension Image {
    /// The image that a coder made with these options, with everything said of it that follows from them.
    func completed(by options: ImageDecodeOptions) -> Image {
        var metadata = options.decodeFirstFrameOnly ? metadata.ofFirstFrame : metadata
        let isKnown = metadata.sourceWidth > 0 && metadata.sourceHeight > 0
        let isWhole = isKnown && pixelWidth * pixelHeight >= metadata.sourceWidth * metadata.sourceHeight
        if !isWhole, !metadata.isThumbnail, metadata.scaleDownLimitBytes == 0 {
            // Where the size of the file's picture is not known, what was asked for as a thumbnail counts as one.
            if options.isThumbnail {
                metadata.isThumbnail = true
            } else if isKnown, options.scaleDownLimitBytes > 0 {
                metadata.scaleDownLimitBytes = options.scaleDownLimitBytes
            }
        }
        let scale = options.scaleFactor.isFinite ? max(options.scaleFactor, 1) : 1
        if metadata == self.metadata, decodeOptions != nil, self.scale == scale { return self }
        return Image(
            bitmap: bitmap,
            scale: scale,
            orientation: orientation,
            metadata: metadata,
            decodeOptions: decodeOptions ?? options,
            extendedData: extendedData,
            memoryCost: memoryCost
        )
    }
}
