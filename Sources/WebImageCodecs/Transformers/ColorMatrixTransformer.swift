import CPixels

/// Applies a ``ColorMatrix`` to the colours of an image; see ``Image/applying(_:)``.
public struct ColorMatrixTransformer: ImageTransformer {
    /// The matrix.
    package let matrix: ColorMatrix
    /// A Boolean value that indicates whether metadata is copied to the result. The default is true.
    public var preservesImageMetadata = true

    /// Creates a transformer with a matrix.
    public init(matrix: ColorMatrix) { self.matrix = matrix }

    /// `ColorMatrixTransformer(…)` with the twenty numbers of the matrix, row by row, in full precision.
    public var transformerKey: String {
        let numbers = matrix.rows.flatMap(\.values).map { "\($0)" }.joined(separator: ",")
        return "ColorMatrixTransformer(\(numbers))"
    }

    /// Returns the image with transformed colours.
    ///
    /// - Throws: the errors of ``Image/applying(_:)``.
    public func transform(_ image: Image) throws(WebImageError) -> Image { handingOut(try image.applying(matrix)) }

    /// Returns the memory cost: the result with alpha, and copies of pixels that are not upright or have more than 8 bits.
    public func memoryNeed(of input: ImageExtent) -> TransformMemoryNeed {
        TransformMemoryNeed(output: input.making(bytesPerPixel: 4), workingByteCount: input.narrowUprightByteCount)
    }
}

extension Image {
    /// Returns the image with its colours transformed by a matrix. Opaque images stay opaque if the matrix leaves opaque alpha as it is.
    ///
    /// - Throws: ``WebImageError/Code/transformFailed`` for a matrix with a number that is not finite, ``WebImageError/Code/outOfMemory``.
    public func applying(_ matrix: ColorMatrix) throws(WebImageError) -> Image {
        guard matrix.rows.allSatisfy({ $0.values.allSatisfy(\.isFinite) }) else {
            throw .untransformable("the colour matrix has numbers that are not finite")
        }
        return replacing(try uprightBitmapIn8Bits().applying(matrix, within: effectLimits))
    }
}

extension ColorMatrix {
    /// A Boolean value that indicates whether opaque pixels of any colour stay opaque.
    fileprivate var keepsOpaque: Bool {
        alpha.red >= 0 && alpha.green >= 0 && alpha.blue >= 0 && alpha.alpha + alpha.offset >= 1
    }

    fileprivate var levels: cpixels_color_matrix {
        var matrix = cpixels_color_matrix()
        withUnsafeMutableBytes(of: &matrix.rows) { bytes in
            let numbers = bytes.bindMemory(to: Float.self)
            for (index, row) in rows.enumerated() {
                for (column, value) in row.values.enumerated() {
                    numbers[index * 5 + column] = Float(column == 4 ? value * 255 : value)
                }
            }
        }
        return matrix
    }
}

extension Bitmap {
    fileprivate func applying(_ matrix: ColorMatrix, within limits: ImageLimits) throws(WebImageError) -> Bitmap {
        var levels = matrix.levels
        let staysOpaque = pixelFormat == .rgb8 && matrix.keepsOpaque
        let result = try Bitmap.allocate((width, height), staysOpaque ? .rgb8 : .bgra8Premultiplied, within: limits)
        for row in 0..<height {
            let output = result.bytes(row)
            if staysOpaque {
                cpixels_color_matrix_rgb(&levels, bytes(row), output, width)
            } else if pixelFormat.hasAlpha {
                cpixels_color_matrix_bgra(&levels, bytes(row), output, width)
            } else {
                cpixels_rgb_to_bgra(bytes(row), output, width)
                cpixels_color_matrix_bgra(&levels, output, output, width)
            }
        }
        return result
    }
}
