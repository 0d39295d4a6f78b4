/// A 3 × 3 matrix, row by row.
private struct Matrix {
    var rows: [[Double]]

    static func diagonal(_ values: [Double]) -> Matrix {
        Matrix(rows: [[values[0], 0, 0], [0, values[1], 0], [0, 0, values[2]]])
    }

    static func * (left: Matrix, right: Matrix) -> Matrix {
        Matrix(
            rows: (0..<3).map { row in
                (0..<3).map { column in
                    (0..<3).reduce(0) { (sum: Double, place: Int) in
                        sum + left.rows[row][place] * right.rows[place][column]
                    }
                }
            }
        )
    }

    static func * (left: Matrix, right: [Double]) -> [Double] {
        left.rows.map { row in zip(row, right).reduce(0) { $0 + $1.0 * $1.1 } }
    }

    /// The inverse; nil for a singular matrix.
    var inverse: Matrix? {
        func minor(_ row: Int, _ column: Int) -> Double {
            let (top, bottom) = ((row + 1) % 3, (row + 2) % 3)
            let (left, right) = ((column + 1) % 3, (column + 2) % 3)
            return rows[top][left] * rows[bottom][right] - rows[top][right] * rows[bottom][left]
        }
        let determinant = (0..<3).reduce(0) { $0 + rows[0][$1] * minor(0, $1) }
        guard abs(determinant) > 1e-9, determinant.isFinite else { return nil }
        return Matrix(rows: (0..<3).map { row in (0..<3).map { minor($0, row) / determinant } })
    }
}

extension SourceColor {
    /// The matrix from linear light in these primaries to that in sRGB's, row by row; the identity if the primaries are invalid.
    var matrixToSRGB: [Float] {
        let unchanged: [Float] = [1, 0, 0, 0, 1, 0, 0, 0, 1]
        guard !hasSRGBPrimaries, let source = Self.toXYZ(chromaticities),
            let target = Self.toXYZ(Self.sRGBChromaticities)?.inverse,
            let adaptation = Self.adaptation(from: chromaticities)
        else { return unchanged }
        return (target * adaptation * source).rows.joined().map(Float.init)
    }

    /// The weights of red, green and blue in the luminance.
    var luminanceWeights: [Float] {
        let weights = Self.toXYZ(chromaticities)?.rows[1] ?? [0.2627, 0.678, 0.0593]
        return weights.map(Float.init)
    }

    private static func xyz(_ x: Double, _ y: Double) -> [Double] { [x / y, 1, (1 - x - y) / y] }

    private static func toXYZ(_ points: [Double]) -> Matrix? {
        guard points.count == 8, stride(from: 1, to: 8, by: 2).allSatisfy({ points[$0] > 1e-4 }) else { return nil }
        let colors = [2, 4, 6].map { xyz(points[$0], points[$0 + 1]) }
        let columns = Matrix(rows: (0..<3).map { row in colors.map { $0[row] } })
        guard let inverse = columns.inverse else { return nil }
        return columns * Matrix.diagonal(inverse * xyz(points[0], points[1]))
    }

    /// Returns the Bradford adaptation from the image's white point to sRGB's.
    private static func adaptation(from points: [Double]) -> Matrix? {
        let cones = Matrix(
            rows: [[0.8951, 0.2664, -0.1614], [-0.7502, 1.7135, 0.0367], [0.0389, -0.0685, 1.0296]]
        )
        let source = cones * xyz(points[0], points[1])
        let target = cones * xyz(sRGBChromaticities[0], sRGBChromaticities[1])
        guard let inverse = cones.inverse, source.allSatisfy({ abs($0) > 1e-6 }) else { return nil }
        return inverse * Matrix.diagonal(zip(target, source).map { $0 / $1 }) * cones
    }
}
