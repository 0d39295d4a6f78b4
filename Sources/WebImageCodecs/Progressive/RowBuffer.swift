package import FoundationEssentials
import Glibc

/// Buffers rows in a decoder's layout until all are decoded: the source of previews and of the final image.
package final class RowBuffer: ReceivedRows {
    package let width: Int
    package let height: Int
    package let extent: (width: Double, height: Double)
    package let layout: ScanlineLayout
    package let colorProfile: Data?
    /// The number of bytes from one row to the next: that of a bitmap.
    package let bytesPerRow: Int
    /// The number of available rows, from the top.
    package var rowCount = 0
    private let storage: PixelStorage

    /// Returns the number of bytes for the rows of an image.
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

    /// Returns the finished image. If the rows need no conversion, it shares their memory, which must not be written after that.
    ///
    /// - Throws: ``WebImageError/Code/outOfMemory``.
    package func image(
        properties: ImageProperties,
        plan: DecodePlan,
        options: ImageDecodeOptions
    ) throws(WebImageError) -> Image {
        guard let format = finalFormat(plan, options) else {
            let source = RowBufferSource(self)
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

    /// Returns the pixel format of the rows; nil when they still need conversion.
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

/// The rows of a complete image as a scanline source.
private final class RowBufferSource: ScanlineSource {
    private let buffer: RowBuffer
    private var nextRow = 0

    init(_ buffer: RowBuffer) { self.buffer = buffer }

    var width: Int { buffer.width }
    var height: Int { buffer.height }
    var extent: (width: Double, height: Double) { buffer.extent }
    var layout: ScanlineLayout { buffer.layout }
    var colorProfile: Data? { buffer.colorProfile }

    func readRows(_ count: Int, into base: UnsafeMutableRawPointer, bytesPerRow: Int) throws(WebImageError) {
        for row in 0..<count {
            memcpy(base + row * bytesPerRow, buffer.address(of: nextRow + row), width * layout.bytesPerPixel)
        }
        nextRow += count
    }
}
