/// The layout of the pixels of a ``Bitmap`` in memory: sRGB, top row first.
public enum PixelFormat: UInt8, Sendable, Hashable, CaseIterable {
    /// Three bytes per pixel, in the order red, green, blue; opaque. The decoders use it for images without alpha.
    case rgb8 = 0
    /// Four bytes per pixel, in the order blue, green, red, alpha, the colours premultiplied by alpha. Cairo calls it `ARGB32` (on
    /// a little-endian machine) and GDK `B8G8R8A8_PREMULTIPLIED`.
    case bgra8Premultiplied = 1
    /// Eight bytes per pixel: red, green, blue, alpha, each a half float (IEEE 754 binary16, in the machine's byte order), the
    /// colours premultiplied by alpha. GDK calls it `R16G16B16A16_FLOAT_PREMULTIPLIED`.
    ///
    /// Colours before premultiplying are encoded with the sRGB curve as in the other formats: 0 is black, 1 is reference white (203
    /// cd/m² if an image specifies luminances). The curve continues beyond 1: light twice as bright as white is `1.055 * pow(2, 1 /
    /// 2.4) - 0.055`; colours outside the sRGB gamut have negative components, for which the curve is mirrored. Alpha is 0...1.
    case rgbaHalfPremultiplied = 2

    /// The number of bytes per pixel.
    public var bytesPerPixel: Int {
        switch self {
        case .rgb8: 3
        case .bgra8Premultiplied: 4
        case .rgbaHalfPremultiplied: 8
        }
    }

    /// Indicates whether pixels have an alpha component.
    public var hasAlpha: Bool { self != .rgb8 }
}
