import CWebImageGTK4
import WebImage

/// The pixels of an image as GDK has them, without a copy of them.
///
/// Views that show one image have one texture, so a renderer that keeps textures on the graphics card sends them there once.
@MainActor
final class Texture {
    /// What it shows; kept, so that the caches' weak level knows that it is in use.
    let image: Image
    /// A GdkTexture.
    nonisolated(unsafe) let pointer: OpaquePointer

    private static var known: [ObjectIdentifier: WeakTexture] = [:]
    /// How many there are, for tests.
    static var count: Int { known.count }

    private struct WeakTexture {
        weak var texture: Texture?
    }

    /// The texture of an image; nil only when there is no memory to turn one that is not upright.
    static func of(_ image: Image) -> Texture? {
        let id = ObjectIdentifier(image)
        // While there is a texture its image lives, so nothing else has that identity.
        if let texture = known[id]?.texture { return texture }
        guard let texture = Texture(image) else { return nil }
        known[id] = WeakTexture(texture: texture)
        return texture
    }

    private init?(_ image: Image) {
        guard let bitmap = try? image.bitmap.upright(from: image.orientation) else { return nil }
        let bytes = bitmap.withUnsafeBytes { pixels in
            // The bitmap's memory lives as long as the storage.
            g_bytes_new_with_free_func(
                pixels.baseAddress,
                gsize(pixels.count),
                { storage in
                    if let storage { Unmanaged<PixelStorage>.fromOpaque(storage).release() }
                },
                Unmanaged.passRetained(bitmap.storage).toOpaque()
            )
        }
        guard let bytes else { return nil }
        defer { g_bytes_unref(bytes) }
        let made = gdk_memory_texture_new(
            Int32(clamping: bitmap.width),
            Int32(clamping: bitmap.height),
            Self.format(of: bitmap.pixelFormat),
            bytes,
            gsize(bitmap.bytesPerRow)
        )
        guard let made else { return nil }
        self.image = image
        pointer = made
    }

    isolated deinit {
        let id = ObjectIdentifier(image)
        if Self.known[id]?.texture == nil { Self.known[id] = nil }
        g_object_unref(UnsafeMutableRawPointer(pointer))
    }

    private static func format(of format: PixelFormat) -> GdkMemoryFormat {
        switch format {
        case .rgb8: GDK_MEMORY_R8G8B8
        case .bgra8Premultiplied: GDK_MEMORY_B8G8R8A8_PREMULTIPLIED
        case .rgbaHalfPremultiplied: GDK_MEMORY_R16G16B16A16_FLOAT_PREMULTIPLIED
        }
    }
}
