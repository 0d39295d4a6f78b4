package import WebImageModel

extension Bitmap {
    /// All pixels as premultiplied BGRA, row after row, for comparing.
    package var pixels: [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(width * height * 4)
        withUnsafeBytes { bytes in
            for y in 0..<height {
                let row = bytes[(y * bytesPerRow)..<(y * bytesPerRow + width * pixelFormat.bytesPerPixel)]
                guard pixelFormat == .rgb8 else {
                    result.append(contentsOf: row)
                    continue
                }
                for x in stride(from: row.startIndex, to: row.endIndex, by: 3) {
                    result.append(contentsOf: [row[x + 2], row[x + 1], row[x], 255])
                }
            }
        }
        return result
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
