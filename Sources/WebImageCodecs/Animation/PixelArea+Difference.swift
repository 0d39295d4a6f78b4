import CPixels

extension PixelArea {
    private init(_ rectangle: cpixels_rectangle) {
        self.init(
            left: Int(rectangle.left),
            top: Int(rectangle.top),
            width: Int(rectangle.width),
            height: Int(rectangle.height)
        )
    }

    /// Returns where two images of the same size and 4 bytes per pixel differ; nil when they are equal.
    package static func difference(_ before: Bitmap, _ now: Bitmap) -> PixelArea? {
        find(cpixels_difference, before, now)
    }

    /// Returns where pixels have become transparent; nil when none has.
    package static func cleared(_ before: Bitmap, _ now: Bitmap) -> PixelArea? { find(cpixels_cleared, before, now) }

    private typealias Search =
        @convention(c) (
            UnsafePointer<UInt8>?, Int, UnsafePointer<UInt8>?, Int, Int, Int, UnsafeMutablePointer<cpixels_rectangle>?
        ) -> Bool

    private static func find(_ search: Search, _ before: Bitmap, _ now: Bitmap) -> PixelArea? {
        var found = cpixels_rectangle()
        let isFound = search(
            before.mutableRow(0).assumingMemoryBound(to: UInt8.self),
            before.bytesPerRow,
            now.mutableRow(0).assumingMemoryBound(to: UInt8.self),
            now.bytesPerRow,
            now.width,
            now.height,
            &found
        )
        return isFound ? PixelArea(found) : nil
    }
}

extension Bitmap {
    /// Returns a rectangle of the pixels that shares this bitmap's memory.
    package func part(_ area: PixelArea) -> Bitmap {
        part(x: area.left, y: area.top, width: area.width, height: area.height)
    }

    /// Returns a rectangle of the pixels with all unchanged ones made transparent.
    ///
    /// - Returns: the pixels; how many have changed; whether blending them over the earlier pixels gives the current ones.
    /// - Throws: ``WebImageError/Code/outOfMemory``.
    package func changes(
        since before: Bitmap,
        in area: PixelArea
    ) throws(WebImageError) -> (pixels: Bitmap, count: Int, liesOver: Bool) {
        let kept = try Bitmap.allocate(width: area.width, height: area.height, pixelFormat: .bgra8Premultiplied)
        let (former, now) = (before.part(area), part(area))
        var count = 0
        var liesOver = true
        for row in 0..<area.height {
            count += cpixels_keep_changed(
                former.mutableRow(row).assumingMemoryBound(to: UInt8.self),
                now.mutableRow(row).assumingMemoryBound(to: UInt8.self),
                kept.mutableRow(row).assumingMemoryBound(to: UInt8.self),
                area.width,
                &liesOver
            )
        }
        return (kept, count, liesOver)
    }
}
