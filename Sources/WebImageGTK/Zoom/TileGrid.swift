import WebImage

/// A tile: its layer in the grid, and its place there.
struct TileIndex: Hashable, Sendable {
    let layer: Int
    let column: Int
    let row: Int
}

/// The tiles of an image at each of its sizes.
///
/// Coordinates that all layers share are pixels of the full image.
struct TileGrid: Equatable, Sendable {
    /// The image at one size.
    struct Layer: Equatable, Sendable {
        /// The level of the reader.
        let level: Int
        let width: Int
        let height: Int
        /// Pixels of the full image per pixel.
        let scale: Double
        /// The pixels of the neighbours around a tile, which an enlarged tile needs for interpolation up to its edge.
        let overlap: Int
    }

    /// The size of the full image in pixels.
    let size: ImageSize
    /// The layers, from the sharpest to the coarsest. The first one is for enlarged images: the full size, in tiles with overlap.
    let layers: [Layer]
    /// The side of a tile in pixels, without overlap.
    let side: Int

    /// The largest side of a texture.
    static let longestSide = 2048

    /// - Parameters:
    ///   - levels: the sizes of the image: the full size, then each half of the previous one, rounded up.
    ///   - side: the side of a tile in pixels.
    init?(levels: [(width: Int, height: Int)], side: Int) {
        guard let full = levels.first, side > 0, side < Self.longestSide,
            levels.allSatisfy({ $0.width > 0 && $0.height > 0 })
        else { return nil }
        size = ImageSize(width: Double(full.width), height: Double(full.height))
        self.side = side
        let enlarged = Layer(level: 0, width: full.width, height: full.height, scale: 1, overlap: 1)
        layers =
            [enlarged]
            + levels.enumerated().map { level, size in
                let scale = Double(sign: .plus, exponent: level, significand: 1)
                return Layer(level: level, width: size.width, height: size.height, scale: scale, overlap: 0)
            }
    }

    /// Returns the coarsest layer that is not enlarged when the full image is drawn with this width.
    ///
    /// - Parameter width: in device pixels.
    func layer(forWidth width: Double) -> Int {
        let most = size.width / max(width, 1)
        // Sizes in whole points are rounded up, so the actual size may be a fraction of a pixel larger than the image.
        guard most > 1 - 1 / size.width else { return 0 }
        return layers.indices.dropFirst().last { layers[$0].scale <= most } ?? 1
    }

    /// Returns the tiles of a layer that a rectangle touches, row by row; empty for a rectangle outside the image.
    func tiles(of layer: Int, touching rect: ImageRect) -> [TileIndex] {
        let whole = ImageRect(x: 0, y: 0, width: size.width, height: size.height)
        guard layers.indices.contains(layer), rect.isUsable, let rect = rect.intersection(whole) else { return [] }
        let step = Double(side) * layers[layer].scale
        let columns = Self.range(rect.x, rect.width, step, layers[layer].width, side)
        let rows = Self.range(rect.y, rect.height, step, layers[layer].height, side)
        return rows.flatMap { row in columns.map { TileIndex(layer: layer, column: $0, row: row) } }
    }

    private static func range(_ start: Double, _ length: Double, _ step: Double, _ pixels: Int, _ side: Int) -> Range<
        Int
    > {
        let count = Double((pixels + side - 1) / side)
        let first = min(max((start / step).rounded(.down), 0), count)
        let end = min(max(((start + length) / step).rounded(.up), first), count)
        return Int(first)..<Int(end)
    }

    /// The pixels of a tile in its layer, without overlap.
    func pixels(of tile: TileIndex) -> ImageRect {
        let layer = layers[tile.layer]
        let (x, y) = (tile.column * side, tile.row * side)
        return ImageRect(x: x, y: y, width: min(side, layer.width - x), height: min(side, layer.height - y))
    }

    /// The pixels to read for a tile: those inside its edges, and the overlap within the image.
    func readPixels(of tile: TileIndex) -> ImageRect {
        let (own, layer) = (pixels(of: tile), layers[tile.layer])
        let overlap = Double(layer.overlap)
        let (x, y) = (max(own.x - overlap, 0), max(own.y - overlap, 0))
        return ImageRect(
            x: x,
            y: y,
            width: min(own.x + own.width + overlap, Double(layer.width)) - x,
            height: min(own.y + own.height + overlap, Double(layer.height)) - y
        )
    }

    /// The part of the full image that a tile shows.
    func rect(of tile: TileIndex) -> ImageRect {
        let (own, scale) = (pixels(of: tile), layers[tile.layer].scale)
        let (x, y) = (own.x * scale, own.y * scale)
        // The last pixel of a size that was rounded up covers less than the others.
        return ImageRect(
            x: x,
            y: y,
            width: min(own.width * scale, size.width - x),
            height: min(own.height * scale, size.height - y)
        )
    }
}
