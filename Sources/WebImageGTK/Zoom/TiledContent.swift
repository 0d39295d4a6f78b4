import CWebImageGTK4
import WebImage

/// Draws an image in tiles, each with the pixels that the screen can show.
///
/// Edges of tiles are at whole device pixels. Renderers blend an edge within a pixel with what is below it, on both sides of the edge, which
/// shows as a line.
@MainActor
final class TiledContent {
    let store: TileStore
    private var grid: TileGrid { store.source.grid }

    init(_ store: TileStore) { self.store = store }

    /// Draws the visible part of the image, and loads what is missing.
    ///
    /// - Parameters:
    ///   - size: the size of the whole image in points.
    ///   - scale: device pixels per point.
    ///   - phase: the distance of the image's top left corner from the next device pixel to the left and above, in device pixels.
    ///   - viewport: the visible part.
    ///   - base: draws the image that is below the tiles, in points.
    func draw(
        into snapshot: OpaquePointer,
        size: ImageSize,
        scale: Double,
        phase: ImagePoint = ImagePoint(x: 0, y: 0),
        viewport: TileViewport,
        base: () -> Void
    ) {
        store.beginFrame()
        let schedule = TileSchedule(grid, viewport)
        let edges = TileEdges(image: grid.size, drawn: size, scale: scale, phase: phase)
        for placement in schedule.placements(store.contains) {
            let place = edges.snapped(placement.rect)
            guard place.width > 0, place.height > 0 else { continue }
            draw(placement, at: place, edges, into: snapshot, base: base)
        }
        store.load(schedule.wanted(within: store.budget))
    }

    private func draw(
        _ placement: TileSchedule.Placement,
        at place: ImageRect,
        _ edges: TileEdges,
        into snapshot: OpaquePointer,
        base: () -> Void
    ) {
        let content = placement.tile.flatMap(store.use)
        let isWhole = placement.tile.map { grid.layers[$0.layer].overlap == 0 && grid.rect(of: $0) == placement.rect }
        if let content, isWhole == true { return content.draw(into: snapshot, place) }
        var bounds = place.graphene
        gtk_snapshot_push_clip(snapshot, &bounds)
        defer { gtk_snapshot_pop(snapshot) }
        guard let content, let tile = placement.tile else { return base() }
        content.draw(into: snapshot, textureRect(of: tile, edges))
    }

    /// Where the texture of a tile is drawn, so that its own pixels are between its edges.
    private func textureRect(of tile: TileIndex, _ edges: TileEdges) -> ImageRect {
        let (own, read) = (grid.pixels(of: tile), grid.readPixels(of: tile))
        let place = edges.snapped(grid.rect(of: tile))
        let (x, y) = (place.width / own.width, place.height / own.height)
        return ImageRect(
            x: place.x - (own.x - read.x) * x,
            y: place.y - (own.y - read.y) * y,
            width: read.width * x,
            height: read.height * y
        )
    }
}

/// Maps rectangles of an image to the points where they are drawn.
struct TileEdges {
    /// The size of the image in pixels.
    let image: ImageSize
    /// Its size on the screen in points.
    let drawn: ImageSize
    /// Device pixels per point.
    let scale: Double
    /// The distance of the image's top left corner from the next device pixel to the left and above, in device pixels.
    let phase: ImagePoint

    /// Returns the rectangle of device pixels, in points. Neighbours in the image are neighbours there. The edges of the image stay where they
    /// are.
    func snapped(_ rect: ImageRect) -> ImageRect {
        let (left, right) = (x(rect.x), x(rect.x + rect.width))
        let (top, bottom) = (y(rect.y), y(rect.y + rect.height))
        return ImageRect(x: left, y: top, width: right - left, height: bottom - top)
    }

    private func x(_ pixel: Double) -> Double { place(pixel, of: image.width, on: drawn.width, phase.x) }
    private func y(_ pixel: Double) -> Double { place(pixel, of: image.height, on: drawn.height, phase.y) }

    private func place(_ pixel: Double, of pixels: Double, on points: Double, _ phase: Double) -> Double {
        guard pixel > 0 else { return 0 }
        guard pixel < pixels else { return points }
        return ((pixel / pixels * points * scale + phase).rounded() - phase) / scale
    }
}
