package import FoundationEssentials
import Glibc

/// Rows in the layout of a decoder, kept until all of them have come: what a preview is made of, and in the end the picture.
package final class RawPicture: ArrivedRows {
    package let width: Int
    package let height: Int
    package let extent: (width: Double, height: Double)
    package let layout: ScanlineLayout
    package let colorProfile: Data?
    /// Bytes from one row to the next: those of a bitmap.
    package let bytesPerRow: Int
    /// Rows that are there, from the top.
    package var rowCount = 0
    private let storage: PixelStorage

    /// Bytes that the rows of a picture take.
    package static func byteCount(width: Int, height: Int, layout: ScanlineLayout) -> Int {
        bytesPerRow(width: width, layout: layout) * height
    }

    private static func bytesPerRow(width: Int, layout: ScanlineLayout) -> Int {
        (width * layout.bytesPerPixel + 3) & ~3
    }

    /// - Throws: ``WebImageError/Code/outOfMemory``.
    package init(
        width: Int,
        height: Int,
        extent: (width: Double, height: Double)? = nil,
        layout: ScanlineLayout,
        colorProfile: Data?
    ) throws(WebImageError) {
        self.width = width
        self.height = height
        self.extent = extent ?? (Double(width), Double(height))
        self.layout = layout
        self.colorProfile = colorProfile
        bytesPerRow = Self.bytesPerRow(width: width, layout: layout)
        storage = try .allocate(byteCount: bytesPerRow * height)
    }

    package var base: UnsafeMutableRawPointer { storage.base }

    package func address(of row: Int) -> UnsafeMutablePointer<UInt8> {
        (storage.base + row * bytesPerRow).assumingMemoryBound(to: UInt8.self)
    }

    func clear() { memset(storage.base, 0, storage.byteCount) }

    package func row(_ row: Int) -> UnsafePointer<UInt8>? { row < rowCount ? UnsafePointer(address(of: row)) : nil }

    /// The finished picture. When nothing has to be done to the rows it has their memory, which must not be written any more.
    ///
    /// - Throws: ``WebImageError/Code/outOfMemory``.
    package func image(
        properties: ImageProperties,
        plan: DecodePlan,
        options: ImageDecodeOptions
    ) throws(WebImageError) -> Image {
        guard let format = finalFormat(plan, options) else {
            let source = RawPictureSource(self)
            return try ImageAssembler.makeImage(from: source, properties: properties, plan: plan, options: options)
        }
        let bitmap = Bitmap(
            width: width,
            height: height,
            bytesPerRow: bytesPerRow,
            pixelFormat: format,
            storage: storage
        )
        return Image(
            bitmap: bitmap,
            scale: options.scaleFactor,
            metadata: ImageAssembler.metadata(properties, plan, options),
            decodeOptions: options
        )
    }

    /// The format that the rows have already; nil when they are not what is asked for.
    private func finalFormat(_ plan: DecodePlan, _ options: ImageDecodeOptions) -> PixelFormat? {
        guard width == plan.width, height == plan.height, plan.orientation == .up,
            options.pixelFormat != .rgbaHalfPremultiplied
        else { return nil }
        switch layout {
        case .bgra8Premultiplied: return .bgra8Premultiplied
        case .rgb8:
            let limit = options.limits.maximumColorProfileByteCount
            guard ColorTransform.shared(profile: colorProfile, layout: layout, limit: limit) == nil else { return nil }
            return options.pixelFormat ?? .rgb8 == .rgb8 ? .rgb8 : nil
        default: return nil
        }
    }
}

/// The rows of a picture that is there, handed out as a decoder does.
private final class RawPictureSource: ScanlineSource {
    private let picture: RawPicture
    private var nextRow = 0

    init(_ picture: RawPicture) { self.picture = picture }

    var width: Int { picture.width }
    var height: Int { picture.height }
    var extent: (width: Double, height: Double) { picture.extent }
    var layout: ScanlineLayout { picture.layout }
    var colorProfile: Data? { picture.colorProfile }

    func readRows(_ count: Int, into base: UnsafeMutableRawPointer, bytesPerRow: Int) throws(WebImageError) {
        for row in 0..<count {
            memcpy(base + row * bytesPerRow, picture.address(of: nextRow + row), width * layout.bytesPerPixel)
        }
        nextRow += count
    }
}
