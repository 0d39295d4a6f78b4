package import FoundationEssentials
package import WebImageCodecs

/// Decodes one frame of a video with FFmpeg's libraries, in this process. Only for the worker program: the libraries are usually GPL, and a decode
/// cannot be cancelled.
package struct FrameCoder: ByteSourceCoder {
    package init() {}

    package func canDecode(_ data: Data) -> Bool { ImageFormat(detecting: data).isVideo }

    package func properties(of data: Data, limits: ImageLimits) throws(WebImageError) -> ImageProperties {
        try properties(of: DataByteSource(data), limits: limits)
    }

    package func memoryNeed(of data: Data, options: ImageDecodeOptions) throws(WebImageError) -> DecodeMemoryNeed {
        try memoryNeed(of: DataByteSource(data), options: options)
    }

    package func decode(_ data: Data, options: ImageDecodeOptions) throws(WebImageError) -> Image {
        try decode(DataByteSource(data), options: options)
    }

    // MARK: Files that are read in parts

    /// Reads the properties from the container, without decoding a frame.
    package func properties(
        of source: any ImageByteSource,
        limits: ImageLimits
    ) throws(WebImageError) -> ImageProperties {
        let properties = try VideoFile(source, limits: limits).properties()
        try limits.check(width: properties.width, height: properties.height)
        return properties
    }

    package func decode(_ source: any ImageByteSource, options: ImageDecodeOptions) throws(WebImageError) -> Image {
        let file = try VideoFile(source, limits: options.limits)
        // Refuses a frame that is too large before it is decoded.
        let declared = try file.properties()
        _ = try DecodePlan.make(for: declared, options: options)
        try file.decode(at: options.videoTime, options.limits)
        // The frame may have other colours than the container declares. One of another size is scaled, as by players.
        var properties = try file.properties()
        (properties.width, properties.height) = (declared.width, declared.height)
        let plan = try DecodePlan.make(for: properties, options: options)
        guard !file.isDamaged || !options.refusesDamagedData else {
            throw WebImageError(.badImageData, "the frame of the video is damaged")
        }
        let rows = VideoRows(file, properties, options)
        let image = try ImageAssembler.makeImage(from: rows, properties: properties, plan: plan, options: options)
        guard file.isDamaged else { return image }
        var metadata = image.metadata
        metadata.isDamaged = true
        return image.with(metadata: metadata)
    }

    /// Counts the frames that a decoder may keep for reference, the frame in RGB, and the result.
    package func memoryNeed(
        of source: any ImageByteSource,
        options: ImageDecodeOptions
    ) throws(WebImageError) -> DecodeMemoryNeed {
        let properties = try VideoFile(source, limits: options.limits).properties()
        let plan = try DecodePlan.make(for: properties, options: options)
        let pixels = properties.width * properties.height
        let isDeep = properties.isHighBitDepth || options.keepsHighBitDepth
        let format = options.pixelFormat ?? .rgb8
        return DecodeMemoryNeed(
            outputByteCount: AssemblyNeed.bitmap(
                plan,
                bytesPerPixel: options.keepsHighBitDepth ? 8 : format.bytesPerPixel
            ),
            workingByteCount: pixels * (Self.referenceFrames * 3 + (isDeep ? 6 : 3)) + Self.tables
        )
    }

    package func canEncode(to format: ImageFormat) -> Bool { false }

    package func encode(
        _ image: Image,
        to format: ImageFormat,
        options: ImageEncodeOptions
    ) throws(WebImageError) -> Data {
        throw WebImageError(.unsupportedFormat, "encoding videos is not supported")
    }

    /// The number of frames that a decoder usually keeps, of 1.5 to 3 bytes per pixel.
    private static let referenceFrames = 10
    /// The bytes of indexes and tables.
    private static let tables = 64 << 20
}

/// Bytes in memory.
private final class DataByteSource: ImageByteSource {
    private let data: Data

    init(_ data: Data) { self.data = data }

    var byteCount: Int { data.count }
    var beginning: Data { data.prefix(4 << 10) }

    func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws(WebImageError) -> Int {
        data.withUnsafeBytes { bytes in
            guard offset >= 0, offset < bytes.count else { return 0 }
            let count = min(bytes.count - offset, buffer.count)
            buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count]))
            return count
        }
    }
}
