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
    ///   - place: where the image is on the screen.
    ///   - viewport: the visible part.
    ///   - isOpaque: true if the image has no transparent pixels.
    ///   - base: draws the image that is below the tiles, in points.
    func draw(
        into snapshot: OpaquePointer,
        at place: TileEdges,
        _ viewport: TileViewport,
        isOpaque: Bool,
        base: () -> Void
    ) {
        store.beginFrame(viewport)
        let schedule = TileSchedule(grid, viewport)
        store.fill(schedule.visible)
        let placements = schedule.placements(store.contains)
        let substitutes = placements.filter { !isWhole($0) }
        if isOpaque {
            // Each texture once, below the sharper ones: renderers convert a texture each time that it is drawn.
            if substitutes.contains(where: { $0.tile == nil }) { base() }
            let coarser = Set(substitutes.compactMap(\.tile)).sorted { $0.layer > $1.layer }
            for tile in coarser { draw(tile, in: grid.rect(of: tile), place, into: snapshot) }
        } else {
            for placement in substitutes { drawPart(placement, place, into: snapshot, base: base) }
        }
        for placement in placements where isWhole(placement) {
            if let tile = placement.tile { draw(tile, in: placement.rect, place, into: snapshot) }
        }
        store.load(schedule.wanted(within: store.budget))
    }

    /// Returns whether a tile is drawn in its own rectangle.
    private func isWhole(_ placement: TileSchedule.Placement) -> Bool {
        placement.tile.map { grid.rect(of: $0) == placement.rect } ?? false
    }

    /// Draws a part of a coarser tile, or of the image below the tiles.
    private func drawPart(
        _ placement: TileSchedule.Placement,
        _ edges: TileEdges,
        into snapshot: OpaquePointer,
        base: () -> Void
    ) {
        if let tile = placement.tile { return draw(tile, in: placement.rect, edges, into: snapshot) }
        var bounds = edges.snapped(placement.rect).graphene
        gtk_snapshot_push_clip(snapshot, &bounds)
        base()
        gtk_snapshot_pop(snapshot)
    }

    /// Draws the part of a tile that is in a rectangle of the image.
    private func draw(_ tile: TileIndex, in rect: ImageRect, _ edges: TileEdges, into snapshot: OpaquePointer) {
        let place = edges.snapped(rect)
        guard let content = store.use(tile), place.width > 0, place.height > 0 else { return }
        if grid.layers[tile.layer].overlap == 0, rect == grid.rect(of: tile) {
            return content.draw(into: snapshot, place)
        }
        var bounds = place.graphene
        gtk_snapshot_push_clip(snapshot, &bounds)
        content.draw(into: snapshot, textureRect(of: tile, edges))
        gtk_snapshot_pop(snapshot)
    }

    /// Returns the rectangle in which the texture of a tile is drawn, so that its own pixels are between its edges.
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

/// The place of an image on the screen. Maps its rectangles to the points where they are drawn.
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
