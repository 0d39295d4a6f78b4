import CRAWShims
import FoundationEssentials
import WebImageCodecs

/// A preview that is embedded in a raw file.
struct RAWPreview {
    var width: Int
    var height: Int
    /// Bytes of the file or of LibRaw, which stay valid as long as the file.
    var data: Data
    /// Packed RGB otherwise.
    var isJPEG = true

    var pixelCount: Int { width * height }

    /// Returns whether an image has about the same shape, to within rounding. Small previews may have black bars.
    func hasShape(of other: RAWPreview) -> Bool {
        abs(width * other.height - height * other.width) * 2 <= max(other.width, other.height) * 3
    }
}

/// The previews of a raw file. LibRaw 0.20 reads only the largest one, so the JPEG files among them are also searched here.
struct RAWPreviews {
    let largest: RAWPreview
    /// All previews of the same shape, the smallest first.
    private let usable: [RAWPreview]

    /// The maximum number of embedded files that are looked at.
    private static let most = 16

    /// - Throws: ``WebImageError/Code/previewNotFound``.
    init(_ file: RAWFile, limits: ImageLimits) throws(WebImageError) {
        var previews = RAWPreviewFinder.parts(of: file.bytes).prefix(Self.most)
            .compactMap { Self.jpeg($0, limits) }
        // LibRaw's preview is read only if the search did not find it: reading it copies its bytes.
        let isKnown = previews.contains { $0.data.count == Int(file.info.preview_bytes) }
        if !isKnown, let pixels = file.largestPreview(), let preview = Self.preview(pixels, limits) {
            previews.append(preview)
        }
        guard let largest = previews.max(by: { $0.pixelCount < $1.pixelCount }) else {
            throw WebImageError(
                .previewNotFound,
                "the raw file has no preview; only full development (rawDevelopment) decodes it"
            )
        }
        self.largest = largest
        usable = previews.filter { $0.hasShape(of: largest) }.sorted { $0.pixelCount < $1.pixelCount }
    }

    /// Returns the smallest preview that is at least as large as a size, or the largest.
    func covering(width: Int, height: Int) -> RAWPreview {
        usable.first { $0.width >= width && $0.height >= height } ?? largest
    }

    private static func preview(_ pixels: webimage_raw_pixels, _ limits: ImageLimits) -> RAWPreview? {
        guard let bytes = pixels.bytes, pixels.count > 0 else { return nil }
        let data = Data(
            bytesNoCopy: UnsafeMutableRawPointer(mutating: bytes),
            count: pixels.count,
            deallocator: .none
        )
        if pixels.is_jpeg { return jpeg(data, limits) }
        let (width, height) = (Int(pixels.width), Int(pixels.height))
        guard (try? limits.check(width: width, height: height)) != nil else { return nil }
        return RAWPreview(width: width, height: height, data: data, isJPEG: false)
    }

    /// Returns a JPEG file that can be decoded; nil for others, such as the lossless JPEG of raw data.
    private static func jpeg(_ data: Data, _ limits: ImageLimits) -> RAWPreview? {
        guard let properties = try? JPEGCoder().properties(of: data, limits: limits) else { return nil }
        return RAWPreview(width: properties.width, height: properties.height, data: data)
    }

    private static func jpeg(_ bytes: UnsafeRawBufferPointer, _ limits: ImageLimits) -> RAWPreview? {
        guard bytes.starts(with: [0xFF, 0xD8, 0xFF]), let base = bytes.baseAddress else { return nil }
        return jpeg(
            Data(bytesNoCopy: UnsafeMutableRawPointer(mutating: base), count: bytes.count, deallocator: .none),
            limits
        )
    }
}
