import CWebImageGTK4
import WebImage

/// A `GdkTexture` that shares the pixels of an image without copying them.
///
/// Views that show the same image share one texture, so a renderer that caches textures on the GPU uploads it once.
@MainActor
final class Texture {
    /// The image. Retained, so that the weak level of the memory cache counts it as in use.
    let image: Image
    /// A `GdkTexture`.
    nonisolated(unsafe) let pointer: OpaquePointer

    private static var known: [ObjectIdentifier: WeakTexture] = [:]
    /// The number of textures, for tests.
    static var count: Int { known.count }

    private struct WeakTexture {
        weak var texture: Texture?
    }

    /// Returns the texture of an image; nil only if there is not enough memory to rotate an image that is not upright.
    static func of(_ image: Image) -> Texture? {
        let id = ObjectIdentifier(image)
        // A texture keeps its image alive, so no other object can have this identifier.
        if let texture = known[id]?.texture { return texture }
        guard let texture = Texture(image) else { return nil }
        known[id] = WeakTexture(texture: texture)
        return texture
    }

    private init?(_ image: Image) {
        guard let bitmap = try? image.bitmap.upright(from: image.orientation) else { return nil }
        let bytes = bitmap.withUnsafeBytes { pixels in
            // The storage owns the bitmap's memory.
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
