public import WebImageModel

extension PortableAnymap {
    /// The pixels as a bitmap: packed RGB of one or three channels, premultiplied BGRA of others.
    ///
    /// - Throws: `WebImageError`.
    public func bitmap() throws -> Bitmap {
        let isOpaque = channels % 2 == 1
        let bitmap = try Bitmap.allocate(
            width: width,
            height: height,
            pixelFormat: isOpaque ? .rgb8 : .bgra8Premultiplied
        )
        for y in 0..<height {
            let row = bitmap.mutableRow(y).assumingMemoryBound(to: UInt8.self)
            for x in 0..<width {
                let pixel = rgba(x: x, y: y)
                let alpha = Int(pixel[3])
                let components = pixel.prefix(3).map { UInt8((Int($0) * alpha * 2 + 255) / 510) }
                if isOpaque {
                    for channel in 0..<3 { row[3 * x + channel] = components[channel] }
                } else {
                    for channel in 0..<3 { row[4 * x + channel] = components[2 - channel] }
                    row[4 * x + 3] = pixel[3]
                }
            }
        }
        return bitmap
    }

    /// Some of the rows.
    public func rows(_ range: Range<Int>) -> PortableAnymap {
        let row = width * channels
        return PortableAnymap(
            width: width,
            height: range.count,
            channels: channels,
            samples: Array(samples[range.lowerBound * row..<range.upperBound * row])
        )
    }
}

extension Image {
    /// The pixels row by row as red, green, blue, alpha, colours premultiplied.
    public var premultipliedPixels: [[UInt8]] {
        (0..<pixelHeight).flatMap { y in (0..<pixelWidth).map { bitmap.premultipliedRGBA(x: $0, y: y) } }
    }
}
