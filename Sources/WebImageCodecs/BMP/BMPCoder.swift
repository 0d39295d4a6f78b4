public import FoundationEssentials

/// Decodes Windows and OS/2 bitmaps, and encodes Windows bitmaps.
///
/// Supported: all headers from 12 to 124 bytes; 1, 2, 4, 8, 16, 24 and 32 bits per pixel, with palettes or masks; run lengths of 4, 8 and 24 bits;
/// rows in either order; embedded JPEG and PNG; an embedded ICC profile. As in browsers, a pixel is transparent if the alpha mask says so or if run
/// lengths skip it; the fourth byte of 32-bit pixels without masks is ignored. Calibrated colour spaces of the header and linked profiles are treated
/// as sRGB. OS/2's Huffman coding is not supported.
///
/// Rows are decoded on demand, so the thumbnail of a large image needs little memory. Missing pixels are an error.
public struct BMPCoder: ImageCoder {
    /// Creates a coder.
    public init() {}

    /// Returns whether the data starts with `BM` and an information header of a known size.
    public func canDecode(_ data: Data) -> Bool { ImageFormat(detecting: data) == .bmp }

    /// Reads the properties from the headers. Cost: a few microseconds; with run-length coding, a pass over all commands.
    ///
    /// - Throws: ``WebImageError/Code/badImageData``, ``WebImageError/Code/limitExceeded``.
    public func properties(of data: Data, limits: ImageLimits) throws(WebImageError) -> ImageProperties {
        try data.withBytes { (bytes) throws(WebImageError) in
            let header = try BMPHeader(bytes)
            if let coder = Self.coderOfPayload(header) {
                return try coder.properties(of: Self.payload(data, header), limits: limits).asBitmap
            }
            try limits.check(width: header.width, height: header.height)
            return Self.properties(header, bytes, try Self.runs(header, bytes), limits)
        }
    }

    /// Decodes the image.
    ///
    /// - Throws: ``WebImageError/Code/badImageData``, ``WebImageError/Code/limitExceeded``, ``WebImageError/Code/outOfMemory``.
    public func decode(_ data: Data, options: ImageDecodeOptions) throws(WebImageError) -> Image {
        try data.withBytes { (bytes) throws(WebImageError) in
            let header = try BMPHeader(bytes)
            if let coder = Self.coderOfPayload(header) {
                let image = try coder.decode(Self.payload(data, header), options: options)
                var metadata = image.metadata
                metadata.format = .bmp
                metadata.frameCount = 1
                metadata.loopCount = 0
                return image.with(metadata: metadata)
            }
            try options.limits.check(width: header.width, height: header.height)
            let runs = try Self.runs(header, bytes)
            let properties = Self.properties(header, bytes, runs, options.limits)
            let plan = try DecodePlan.make(for: properties, options: options)
            let profile = Self.profile(header, bytes, options.limits)
            let rows: any ScanlineSource =
                if let runs { BMPRunReader(bytes, header: header, runs: runs, colorProfile: profile) } else {
                    BMPPixelReader(bytes, header: header, colorProfile: profile)
                }
            return try ImageAssembler.makeImage(from: rows, properties: properties, plan: plan, options: options)
        }
    }

    static func properties(
        _ header: BMPHeader,
        _ bytes: UnsafeRawBufferPointer,
        _ runs: BMPRuns?,
        _ limits: ImageLimits
    ) -> ImageProperties {
        var properties = ImageProperties(format: .bmp, width: header.width, height: header.height)
        properties.hasAlpha = header.hasAlphaMask || runs?.hasGaps == true
        properties.colorProfile = profile(header, bytes, limits).flatMap {
            ColorProfile.name(of: $0, limit: limits.maximumColorProfileByteCount)
        }
        return properties
    }

    static func profile(_ header: BMPHeader, _ bytes: UnsafeRawBufferPointer, _ limits: ImageLimits) -> Data? {
        guard let range = header.profile, range.count <= limits.maximumColorProfileByteCount else { return nil }
        return Data(bytes[range])
    }

    static func runs(_ header: BMPHeader, _ bytes: UnsafeRawBufferPointer) throws(WebImageError) -> BMPRuns? {
        switch header.compression {
        case .runs4, .runs8, .runs24: try BMPRuns(bytes, header: header)
        case .none, .jpeg, .png: nil
        }
    }

    static func coderOfPayload(_ header: BMPHeader) -> (any ImageCoder)? {
        switch header.compression {
        case .jpeg: JPEGCoder()
        case .png: PNGCoder()
        case .none, .runs4, .runs8, .runs24: nil
        }
    }

    static func payload(_ data: Data, _ header: BMPHeader) -> Data { Data(data.dropFirst(header.pixelOffset)) }
}

extension ImageProperties {
    /// The properties of an embedded image as those of the BMP around it: a still image.
    fileprivate var asBitmap: ImageProperties {
        var properties = self
        properties.format = .bmp
        properties.frameCount = 1
        properties.frameDurations = []
        properties.loopCount = 0
        return properties
    }
}
