import Glibc

/// A linear transform of a pixel's colour. Each component of the result is a sum of all components, each times a factor, plus an offset.
///
/// Components are straight sRGB, 0...1; results are clamped to that range. The factories are the CSS filter functions, with the same numbers.
public struct ColorMatrix: Sendable, Hashable {
    /// One component of the result.
    public struct Row: Sendable, Hashable {
        /// The factor of red.
        package var red: Double
        /// The factor of green.
        package var green: Double
        /// The factor of blue.
        package var blue: Double
        /// The factor of alpha.
        package var alpha: Double
        /// The offset that is added to the sum.
        package var offset: Double

        /// Creates a row of four factors and an offset.
        public init(_ red: Double, _ green: Double, _ blue: Double, _ alpha: Double = 0, offset: Double = 0) {
            self.red = red
            self.green = green
            self.blue = blue
            self.alpha = alpha
            self.offset = offset
        }

        var values: [Double] { [red, green, blue, alpha, offset] }

        /// Returns this row times a whole matrix.
        fileprivate func times(_ matrix: ColorMatrix) -> Row {
            let rows = zip([red, green, blue, alpha], matrix.rows)
            func sum(_ component: (Row) -> Double) -> Double { rows.reduce(0) { $0 + $1.0 * component($1.1) } }
            return Row(sum(\.red), sum(\.green), sum(\.blue), sum(\.alpha), offset: sum(\.offset) + offset)
        }
    }

    /// The row for the result's red.
    package var red: Row
    /// The row for the result's green.
    package var green: Row
    /// The row for the result's blue.
    package var blue: Row
    /// The row for the result's alpha.
    package var alpha: Row

    /// Creates a matrix of rows. By default alpha is unchanged.
    public init(red: Row, green: Row, blue: Row, alpha: Row = Row(0, 0, 0, 1)) {
        self.red = red
        self.green = green
        self.blue = blue
        self.alpha = alpha
    }

    var rows: [Row] { [red, green, blue, alpha] }

    /// Returns one matrix that applies this matrix and then another. Results are not clamped to 0...1 in between.
    public func followed(by next: ColorMatrix) -> ColorMatrix {
        ColorMatrix(
            red: next.red.times(self),
            green: next.green.times(self),
            blue: next.blue.times(self),
            alpha: next.alpha.times(self)
        )
    }
}

extension ColorMatrix {
    /// The matrix that changes nothing.
    public static let identity = scaled(by: 1, offset: 0)
    /// Converts to black and white by luminance.
    public static let grayscale = grayscale(amount: 1)
    /// Tones in the brown of old photographs.
    public static let sepia = sepia(amount: 1)
    /// Inverts the colours.
    public static let inverted = scaled(by: -1, offset: 1)

    /// Returns a matrix that blends towards ``grayscale``: 0 changes nothing.
    public static func grayscale(amount: Double) -> ColorMatrix {
        let rest = 1 - amount
        return ColorMatrix(
            red: Row(0.2126 + 0.7874 * rest, 0.7152 - 0.7152 * rest, 0.0722 - 0.0722 * rest),
            green: Row(0.2126 - 0.2126 * rest, 0.7152 + 0.2848 * rest, 0.0722 - 0.0722 * rest),
            blue: Row(0.2126 - 0.2126 * rest, 0.7152 - 0.7152 * rest, 0.0722 + 0.9278 * rest)
        )
    }

    /// Returns a matrix that blends towards ``sepia``: 0 changes nothing.
    public static func sepia(amount: Double) -> ColorMatrix {
        let rest = 1 - amount
        return ColorMatrix(
            red: Row(0.393 + 0.607 * rest, 0.769 - 0.769 * rest, 0.189 - 0.189 * rest),
            green: Row(0.349 - 0.349 * rest, 0.686 + 0.314 * rest, 0.168 - 0.168 * rest),
            blue: Row(0.272 - 0.272 * rest, 0.534 - 0.534 * rest, 0.131 + 0.869 * rest)
        )
    }

    /// Returns a matrix that scales brightness: 1 changes nothing, 0 is black, 2 is twice as bright.
    public static func brightness(_ factor: Double) -> ColorMatrix { scaled(by: factor, offset: 0) }

    /// Returns a matrix that scales contrast around the middle grey: 1 changes nothing, 0 is grey.
    public static func contrast(_ factor: Double) -> ColorMatrix { scaled(by: factor, offset: 0.5 - 0.5 * factor) }

    /// Returns a matrix that scales saturation: 1 changes nothing, 0 removes all colour.
    public static func saturation(_ factor: Double) -> ColorMatrix {
        ColorMatrix(
            red: Row(0.213 + 0.787 * factor, 0.715 - 0.715 * factor, 0.072 - 0.072 * factor),
            green: Row(0.213 - 0.213 * factor, 0.715 + 0.285 * factor, 0.072 - 0.072 * factor),
            blue: Row(0.213 - 0.213 * factor, 0.715 - 0.715 * factor, 0.072 + 0.928 * factor)
        )
    }

    /// Returns a matrix that rotates every hue around the colour wheel by an angle in radians.
    public static func hueRotation(_ angle: Double) -> ColorMatrix {
        let (c, s) = (cos(angle), sin(angle))
        return ColorMatrix(
            red: Row(0.213 + c * 0.787 - s * 0.213, 0.715 - c * 0.715 - s * 0.715, 0.072 - c * 0.072 + s * 0.928),
            green: Row(0.213 - c * 0.213 + s * 0.143, 0.715 + c * 0.285 + s * 0.140, 0.072 - c * 0.072 - s * 0.283),
            blue: Row(0.213 - c * 0.213 - s * 0.787, 0.715 - c * 0.715 + s * 0.715, 0.072 + c * 0.928 + s * 0.072)
        )
    }

    /// Returns a matrix that scales opacity: 1 changes nothing, 0 is fully transparent.
    public static func opacity(_ factor: Double) -> ColorMatrix {
        var matrix = identity
        matrix.alpha.alpha = factor
        return matrix
    }

    private static func scaled(by factor: Double, offset: Double) -> ColorMatrix {
        ColorMatrix(
            red: Row(factor, 0, 0, offset: offset),
            green: Row(0, factor, 0, offset: offset),
            blue: Row(0, 0, factor, offset: offset)
        )
    }
}
