/// How the pixels of a ``Bitmap`` lie in memory: 8 bits per component, sRGB, top row first.
public enum PixelFormat: UInt8, Sendable, Hashable, CaseIterable {
    /// Three bytes per pixel, in the order red, green, blue; opaque. The decoders' choice for pictures without alpha.
    case rgb8 = 0
    /// Four bytes per pixel, in the order blue, green, red, alpha, the colours premultiplied by alpha.
    /// What cairo calls `ARGB32` (on a little-endian machine) and GDK `B8G8R8A8_PREMULTIPLIED`.
    case bgra8Premultiplied = 1

    /// Bytes that one pixel takes.
    public var bytesPerPixel: Int {
        switch self {
        case .rgb8: 3
        case .bgra8Premultiplied: 4
        }
    }

    /// Whether pixels carry an alpha component.
    public var hasAlpha: Bool { self == .bgra8Premultiplied }
}
