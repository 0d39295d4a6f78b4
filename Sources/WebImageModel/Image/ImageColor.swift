/// A colour of straight (not premultiplied) sRGB components.
public struct ImageColor: Sendable, Hashable {
    /// Red, 0...1.
    public var red: Double
    /// Green, 0...1.
    public var green: Double
    /// Blue, 0...1.
    public var blue: Double
    /// Opacity, 0...1.
    public var alpha: Double

    /// Creates a colour from components, each clamped to 0...1; NaN counts as 0.
    ///
    /// - Parameters:
    ///   - red: red, 0...1.
    ///   - green: green, 0...1.
    ///   - blue: blue, 0...1.
    ///   - alpha: opacity; opaque by default.
    public init(red: Double, green: Double, blue: Double, alpha: Double = 1) {
        self.red = Self.limited(red)
        self.green = Self.limited(green)
        self.blue = Self.limited(blue)
        self.alpha = Self.limited(alpha)
    }

    /// Creates a colour from 8-bit components, as in a pixel of a ``Bitmap`` that is not premultiplied.
    ///
    /// - Parameters:
    ///   - red: red, 0...255.
    ///   - green: green, 0...255.
    ///   - blue: blue, 0...255.
    ///   - alpha: opacity; opaque by default.
    package init(red8 red: UInt8, green8 green: UInt8, blue8 blue: UInt8, alpha8 alpha: UInt8 = 255) {
        self.init(
            red: Double(red) / 255,
            green: Double(green) / 255,
            blue: Double(blue) / 255,
            alpha: Double(alpha) / 255
        )
    }

    /// Parses a colour written as `#AARRGGBB` or `#RRGGBB`, with or without the sign, in either case; nil for anything else.
    public init?(hex: String) {
        let digits = hex.hasPrefix("#") ? hex.dropFirst() : hex[...]
        guard [6, 8].contains(digits.utf8.count), digits.utf8.allSatisfy(Self.isHexDigit),
            let value = UInt32(digits, radix: 16)
        else { return nil }
        self.init(
            red8: UInt8(value >> 16 & 255),
            green8: UInt8(value >> 8 & 255),
            blue8: UInt8(value & 255),
            alpha8: digits.utf8.count == 6 ? 255 : UInt8(value >> 24)
        )
    }

    /// The colour as `#aarrggbb`, each component rounded to 8 bits: clear is `#00000000`, opaque black `#ff000000`.
    public var hexString: String {
        "#"
            + [alpha8, red8, green8, blue8].map { component in
                let digits = String(component, radix: 16)
                return digits.utf8.count == 1 ? "0" + digits : digits
            }.joined()
    }

    /// ``red`` in 8 bits, rounded.
    package var red8: UInt8 { Self.byte(red) }
    /// ``green`` in 8 bits, rounded.
    package var green8: UInt8 { Self.byte(green) }
    /// ``blue`` in 8 bits, rounded.
    package var blue8: UInt8 { Self.byte(blue) }
    /// ``alpha`` in 8 bits, rounded.
    package var alpha8: UInt8 { Self.byte(alpha) }

    /// Transparent black.
    public static let clear = ImageColor(red: 0, green: 0, blue: 0, alpha: 0)
    /// Opaque black.
    public static let black = ImageColor(red: 0, green: 0, blue: 0)
    /// Opaque white.
    public static let white = ImageColor(red: 1, green: 1, blue: 1)

    private static func byte(_ component: Double) -> UInt8 { UInt8((limited(component) * 255).rounded()) }

    private static func limited(_ component: Double) -> Double { component > 0 ? min(component, 1) : 0 }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
            UInt8(ascii: "A")...UInt8(ascii: "F"):
            true
        default: false
        }
    }
}
