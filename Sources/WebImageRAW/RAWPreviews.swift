import FoundationEssentials
import WebImageCodecs

/// A preview that is embedded in a raw file.
struct RAWPreview {
    enum Layout: Equatable {
        case jpeg
        /// Packed samples of 8 bits: grey, or RGB.
        case packed(colors: Int)
    }

    var width: Int
    var height: Int
    /// Bytes of the file, which stay valid as long as it does, or a copy.
    var data = Data()
    var isCopy = false
    var layout = Layout.jpeg
    /// The parts of the file that are to be joined in place of the data, if they do not follow one another.
    var strips: [UnsafeRawBufferPointer] = []

    var pixelCount: Int { width * height }

    /// The number of bytes that are not used as they are in the file.
    var copiedByteCount: Int { strips.reduce(isCopy ? data.count : 0) { $0 + $1.count } }

    /// Returns the data, or the strips joined.
    var joined: Data {
        guard !strips.isEmpty else { return data }
        var joined = Data(capacity: copiedByteCount)
        for strip in strips { joined.append(contentsOf: strip) }
        return joined
    }

    /// Returns whether an image has about the same shape, to within rounding. Small previews may have black bars.
    func hasShape(of other: RAWPreview) -> Bool {
        abs(width * other.height - height * other.width) * 2 <= max(other.width, other.height) * 3
    }
}

/// The previews of a raw file. They are not read with LibRaw: 0.20 reads only the largest one, and may write beyond its buffer.
struct RAWPreviews {
    let largest: RAWPreview
    /// All previews of the same shape, the smallest first.
    private let usable: [RAWPreview]

    /// The maximum number of embedded files that are looked at.
    private static let most = 16

    /// Finds the previews within the limits.
    ///
    /// - Throws: ``WebImageError/Code/previewNotFound``, or ``WebImageError/Code/limitExceeded`` if all previews are beyond the limits.
    init(_ file: RAWFile, limits: ImageLimits) throws(WebImageError) {
        let parts = RAWPreviewFinder.parts(of: file.bytes).prefix(Self.most)
        var found = parts.filter { $0.starts(with: Self.jpegStart) }.map { (data: Data(unowned: $0), isCopy: false) }
        // LibRaw's preview only if the search did not find it.
        if let stated = file.statedPreview, !found.contains(where: { $0.data.count == stated.count }) {
            if let file = Self.jpegFile(stated) { found.append(file) }
        }
        var previews: [RAWPreview] = []
        var refusal: WebImageError?
        for (data, isCopy) in found {
            do throws(WebImageError) {
                let properties = try JPEGCoder().properties(of: data, limits: limits)
                previews.append(
                    RAWPreview(width: properties.width, height: properties.height, data: data, isCopy: isCopy)
                )
            } catch {
                // Other errors are of other files, such as the lossless JPEG of raw data.
                if error.code == .limitExceeded { refusal = error }
            }
        }
        for preview in RAWPackedPreviews.previews(of: file.bytes) {
            do throws(WebImageError) {
                try limits.check(width: preview.width, height: preview.height)
                previews.append(preview)
            } catch { refusal = error }
        }
        guard let largest = previews.max(by: { $0.pixelCount < $1.pixelCount }) else {
            throw refusal ?? Self.notFound
        }
        self.largest = largest
        usable = previews.filter { $0.hasShape(of: largest) }.sorted { $0.pixelCount < $1.pixelCount }
    }

    private static let notFound = WebImageError(
        .previewNotFound,
        "the raw file has no preview; only full development (rawDevelopment) decodes it"
    )

    /// Returns the smallest preview that is at least as large as a size, or the largest.
    func covering(width: Int, height: Int) -> RAWPreview {
        usable.first { $0.width >= width && $0.height >= height } ?? largest
    }

    private static let jpegStart: [UInt8] = [0xFF, 0xD8, 0xFF]

    /// Returns a JPEG file; nil for other data. Some cameras change its first bytes, which LibRaw restores.
    private static func jpegFile(_ bytes: UnsafeRawBufferPointer) -> (data: Data, isCopy: Bool)? {
        guard bytes.count > jpegStart.count, bytes[2] == jpegStart[2] else { return nil }
        if bytes.starts(with: jpegStart) { return (Data(unowned: bytes), false) }
        var copy = Data(bytes)
        copy.replaceSubrange(0..<jpegStart.count, with: jpegStart)
        return (copy, true)
    }
}

extension Data {
    /// Creates data of memory that stays valid longer.
    init(unowned bytes: UnsafeRawBufferPointer) {
        guard let base = bytes.baseAddress else {
            self.init()
            return
        }
        self.init(bytesNoCopy: UnsafeMutableRawPointer(mutating: base), count: bytes.count, deallocator: .none)
    }
}
