public import WebImageModel

extension Image {
    /// An image of one pixel, for tests that only care which image it is.
    ///
    /// - Parameter onRelease: called when its memory is freed.
    public static func tiny(onRelease: @escaping @Sendable () -> Void = {}) -> Image {
        let storage = PixelStorage(adopting: .allocate(byteCount: 4, alignment: 4), byteCount: 4) { base, _ in
            base.deallocate()
            onRelease()
        }
        return Image(bitmap: Bitmap(width: 1, height: 1, bytesPerRow: 4, pixelFormat: .rgb8, storage: storage))
    }
}
