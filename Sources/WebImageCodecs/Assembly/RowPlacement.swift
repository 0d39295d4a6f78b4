import CPixels

/// The places of stored rows' pixels in the upright bitmap.
struct RowPlacement {
    private let origin: UnsafeMutablePointer<UInt8>
    private let stepX: Int
    private let stepY: Int
    private let width: Int
    private let bytesPerPixel: Int

    init(plan: DecodePlan, bitmap: Bitmap) {
        let pixel = bitmap.pixelFormat.bytesPerPixel
        let stride = bitmap.bytesPerRow
        let right = (bitmap.width - 1) * pixel
        let bottom = (bitmap.height - 1) * stride
        let offset: Int
        switch plan.orientation {
        case .up: (offset, stepX, stepY) = (0, pixel, stride)
        case .upMirrored: (offset, stepX, stepY) = (right, -pixel, stride)
        case .down: (offset, stepX, stepY) = (right + bottom, -pixel, -stride)
        case .downMirrored: (offset, stepX, stepY) = (bottom, pixel, -stride)
        case .leftMirrored: (offset, stepX, stepY) = (0, stride, pixel)
        case .right: (offset, stepX, stepY) = (right, stride, -pixel)
        case .rightMirrored: (offset, stepX, stepY) = (right + bottom, -stride, -pixel)
        case .left: (offset, stepX, stepY) = (bottom, -stride, pixel)
        }
        origin = (bitmap.mutableRow(0) + offset).assumingMemoryBound(to: UInt8.self)
        width = plan.width
        bytesPerPixel = pixel
    }

    /// A Boolean value that indicates whether a stored row is a row of the bitmap, in the same direction.
    var isRowByRow: Bool { stepX == bytesPerPixel }

    /// Returns the start of stored row `row`; valid if ``isRowByRow``.
    func address(of row: Int) -> UnsafeMutablePointer<UInt8> { origin + row * stepY }

    /// Copies a block of stored rows in the bitmap's format to their places.
    func place(_ rows: UnsafePointer<UInt8>, bytesPerRow: Int, firstRow: Int, count: Int) {
        cpixels_place(rows, bytesPerRow, width, count, origin + firstRow * stepY, stepX, stepY, Int32(bytesPerPixel))
    }
}
