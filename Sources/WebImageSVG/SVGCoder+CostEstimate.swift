public import FoundationEssentials
public import WebImageCodecs

extension SVGCoder {
    /// Returns the memory cost of a drawing: its pixels, and an estimate for librsvg: the elements, embedded images, and a canvas for each effect
    /// that is drawn separately, up to the possible nesting. librsvg has no memory limit. Cost: reads the whole document.
    public func memoryNeed(
        of data: Data,
        options: ImageDecodeOptions
    ) throws(WebImageError) -> DecodeMemoryNeed {
        try checkPlace(data)
        let (screened, screening) = try SVGScreening.screened(data, limits: options.limits)
        let document = try SVGDocument(screened)
        let plan = try Self.plan(document, try Self.properties(document), options)
        let canvas = AssemblyNeed.bitmap(plan, bytesPerPixel: 4)
        let layers = min(Self.layers(screened), Self.mostLayers)
        let isHighBitDepth = options.pixelFormat == .rgbaHalfPremultiplied
        let elements = screening.elementCount * Self.bytesOfElement + 16 * data.count
        return DecodeMemoryNeed(
            outputByteCount: isHighBitDepth ? AssemblyNeed.bitmap(plan, bytesPerPixel: 8) : canvas,
            workingByteCount: elements + 2 * screening.decodedByteCount + layers * canvas
                + (isHighBitDepth ? canvas : 0)
                + (1 << 20)
        )
    }

    private static let bytesOfElement = 4096
    private static let mostLayers = 64
    /// Words of features that are drawn on a separate canvas; each step of a filter has one.
    private static let words = ["opacity", "filter", "mask", "clip", "blend", "isolation", "pattern", "<fe", "<use"]

    private static func layers(_ document: Data) -> Int {
        let patterns = words.map { Array($0.utf8) }
        return document.withUnsafeBytes { bytes in
            var count = 0
            for start in bytes.indices {
                let byte = bytes[start]
                for pattern in patterns where byte == pattern[0] && start + pattern.count <= bytes.count {
                    if bytes[start..<start + pattern.count].elementsEqual(pattern) { count += 1 }
                }
                if count >= mostLayers { break }
            }
            return count
        }
    }
}
