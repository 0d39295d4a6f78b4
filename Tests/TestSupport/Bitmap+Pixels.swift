import CTestSupport
package import WebImageModel

extension Bitmap {
    /// All pixels as premultiplied BGRA, row after row, for comparing.
    package var pixels: [UInt8] {
        let byteCount = width * (pixelFormat == .rgb8 ? 4 : pixelFormat.bytesPerPixel)
        return [UInt8](unsafeUninitializedCapacity: height * byteCount) { result, count in
            withUnsafeBytes { bytes in
                guard let rows = bytes.baseAddress, let result = result.baseAddress else { return }
                for y in 0..<height {
                    let row = (rows + y * bytesPerRow).assumingMemoryBound(to: UInt8.self)
                    if pixelFormat == .rgb8 {
                        ctest_rgb_to_bgra(row, result + y * byteCount, width)
                    } else {
                        (result + y * byteCount).update(from: row, count: byteCount)
                    }
                }
            }
            count = height * byteCount
        }
    }

    /// A bitmap of premultiplied BGRA.
    package static func make(_ width: Int, _ height: Int, _ pixel: (_ x: Int, _ y: Int) -> [UInt8]) throws -> Bitmap {
        let bitmap = try Bitmap.allocate(width: width, height: height, pixelFormat: .bgra8Premultiplied)
        for y in 0..<height {
            for x in 0..<width {
                bitmap.mutableRow(y).advanced(by: x * 4).copyMemory(from: pixel(x, y), byteCount: 4)
            }
        }
        return bitmap
    }
}
