import FoundationEssentials

/// Regions of a drawing, of which each level is drawn as a whole. The levels that were drawn last are kept.
package final class DrawnRegions: RegionSource {
    private let levels: [RegionLevel]
    private let draw: @Sendable (RegionLevel) throws(WebImageError) -> Image
    private let drawn = Lock<[(level: Int, image: Image)]>([])
    /// Held while a level is drawn, so that reads of its tiles draw it once.
    private let drawing = Lock(())
    /// Reads of a drawing wait for one that draws its level. On a queue with one thread, they wait without blocking the threads that decode.
    package let readQueue: WorkQueue? = WorkQueue(name: "webimage.drawings", width: 1)

    /// The number of levels that are kept; another one is smaller or is not shown at the same time.
    private static let keptCount = 2

    /// - Parameter draw: Draws the whole image at a size.
    package init(levels: [RegionLevel], draw: @escaping @Sendable (RegionLevel) throws(WebImageError) -> Image) {
        self.levels = levels
        self.draw = draw
    }

    package func read(_ area: PixelArea, level: Int, check: RegionCheck) throws(WebImageError) -> Image {
        let image = try self.level(level, check)
        let part = try image.uprightBitmap().part(x: area.left, y: area.top, width: area.width, height: area.height)
        return Image(bitmap: try part.copy(), metadata: image.metadata, decodeOptions: image.limitsOnly)
    }

    private func level(_ level: Int, _ check: RegionCheck) throws(WebImageError) -> Image {
        if let image = known(level) { return image }
        let result: Result<Image, WebImageError> = drawing.withLock { _ in
            do throws(WebImageError) {
                if let image = known(level) { return .success(image) }
                try check()
                let image = try draw(levels[level])
                guard image.pixelWidth == levels[level].width, image.pixelHeight == levels[level].height else {
                    throw WebImageError(.badImageData, "the drawing has another size than its header")
                }
                return .success(image)
            } catch {
                return .failure(error)
            }
        }
        let image = try result.get()
        let former = drawn.withLock { drawn in
            drawn.removeAll { $0.level == level }
            drawn.append((level, image))
            return drawn.count > Self.keptCount ? drawn.removeFirst().image : nil
        }
        withExtendedLifetime(former) {}
        return image
    }

    private func known(_ level: Int) -> Image? { drawn.withLock { $0.first { $0.level == level }?.image } }
}
