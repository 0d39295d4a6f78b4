import WebImage

/// The visible part of a drawn image, in device pixels relative to the image's top left corner.
struct TileViewport: Equatable {
    /// The size at which the whole image is drawn.
    var drawn: ImageSize
    /// The visible part of it.
    var visible: ImageRect
    /// The pointer; nil if it is elsewhere.
    var pointer: ImagePoint?
}

/// The tiles that a viewport needs, and what is drawn while some of them are missing.
struct TileSchedule: Equatable {
    /// A rectangle of the image and the tile that fills it.
    struct Placement: Equatable {
        /// In pixels of the full image.
        let rect: ImageRect
        /// The tile, which may show more than the rectangle; nil for the image below the tiles.
        let tile: TileIndex?
    }

    /// The layer that has at least as many pixels as the screen.
    let layer: Int
    /// The tiles to see, those near the pointer first.
    let visible: [TileIndex]
    /// The tiles around them, to load afterwards.
    let nearby: [TileIndex]
    private let grid: TileGrid

    init(_ grid: TileGrid, _ viewport: TileViewport) {
        self.grid = grid
        layer = grid.layer(forWidth: viewport.drawn.width)
        let (x, y) = (grid.size.width / max(viewport.drawn.width, 1), grid.size.height / max(viewport.drawn.height, 1))
        let seen = viewport.visible
        let rect = ImageRect(x: seen.x * x, y: seen.y * y, width: seen.width * x, height: seen.height * y)
        let place = viewport.pointer ?? ImagePoint(x: seen.x + seen.width / 2, y: seen.y + seen.height / 2)
        let focus = ImagePoint(x: place.x * x, y: place.y * y)
        let margin = Double(grid.side) * grid.layers[layer].scale
        let wider = ImageRect(
            x: rect.x - margin,
            y: rect.y - margin,
            width: rect.width + 2 * margin,
            height: rect.height + 2 * margin
        )
        let touched = grid.tiles(of: layer, touching: rect)
        let known = Set(touched)
        visible = Self.sorted(touched, grid, focus)
        nearby =
            touched.isEmpty
            ? [] : Self.sorted(grid.tiles(of: layer, touching: wider).filter { !known.contains($0) }, grid, focus)
    }

    private static func sorted(_ tiles: [TileIndex], _ grid: TileGrid, _ focus: ImagePoint) -> [TileIndex] {
        func distance(_ tile: TileIndex) -> Double {
            let rect = grid.rect(of: tile)
            let (x, y) = (rect.x + rect.width / 2 - focus.x, rect.y + rect.height / 2 - focus.y)
            return x * x + y * y
        }
        let distances = tiles.map { (tile: $0, distance: distance($0)) }
        // Equal distances in the order of rows.
        return distances.enumerated().sorted {
            ($0.element.distance, $0.offset) < ($1.element.distance, $1.offset)
        }.map(\.element.tile)
    }

    /// Returns the tiles to load, in order: the visible ones, and as many others as fit into a budget.
    ///
    /// - Parameter budget: in bytes.
    func wanted(within budget: Int) -> [TileIndex] {
        let most = budget / (grid.side * grid.side * 4)
        return visible + nearby.prefix(max(most - visible.count, 0))
    }

    /// Returns what to draw. Each part of the image is drawn once, so transparent pixels do not show an old tile below a new one.
    ///
    /// A missing tile is replaced by those of the next sharper layer if all of them are there (the image was zoomed out), otherwise by those
    /// of the nearest coarser layer, otherwise by the image below the tiles.
    ///
    /// - Parameter isThere: returns whether a tile has been loaded.
    func placements(_ isThere: (TileIndex) -> Bool) -> [Placement] {
        let others = (layer > 0 ? [layer - 1] : []) + Array(grid.layers.indices.dropFirst(layer + 1))
        return visible.flatMap { tile -> [Placement] in
            let rect = grid.rect(of: tile)
            if isThere(tile) { return [Placement(rect: rect, tile: tile)] }
            for other in others {
                let tiles = grid.tiles(of: other, touching: rect)
                guard !tiles.isEmpty, tiles.allSatisfy(isThere) else { continue }
                return tiles.compactMap { found in
                    rect.intersection(grid.rect(of: found)).map { Placement(rect: $0, tile: found) }
                }
            }
            return [Placement(rect: rect, tile: nil)]
        }
    }

    /// Returns the tiles to release, so that the others fit into a budget: the least recently drawn first, never those in use.
    ///
    /// - Parameters:
    ///   - stored: the loaded tiles, with their bytes and the number of the last frame that drew them.
    ///   - inUse: the tiles that are drawn now.
    ///   - budget: in bytes.
    static func released(
        _ stored: [TileIndex: (bytes: Int, lastFrame: Int)],
        inUse: Set<TileIndex>,
        budget: Int
    ) -> [TileIndex] {
        var excess = stored.values.reduce(0) { $0 + $1.bytes } - budget
        guard excess > 0 else { return [] }
        let idle = stored.filter { !inUse.contains($0.key) }.sorted {
            ($0.value.lastFrame, $0.key.layer, $0.key.row, $0.key.column)
                < ($1.value.lastFrame, $1.key.layer, $1.key.row, $1.key.column)
        }
        return idle.prefix { tile in
            defer { excess -= tile.value.bytes }
            return excess > 0
        }.map(\.key)
    }
}
