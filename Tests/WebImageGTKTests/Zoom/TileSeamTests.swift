import CWebImageGTK4
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageGTK

/// Images drawn in tiles, compared with one texture: pixels, without a window.
@Suite(.serialized) @MainActor struct TileSeamTests {
    nonisolated private static let (width, height) = (700, 500)
    nonisolated private static let zooms = [
        0.07, 0.123, 0.2, 0.25, 0.31, 0.4177, 0.5, 0.513, 0.6667, 0.75, 0.8123, 0.9, 0.999, 1, 1.1, 1.25, 1.37, 1.5,
        1.777, 2, 2.3, 3.1, 5.7,
    ]

    /// An image of one colour, or one whose colours rise and fall with the place; both of full resolution at each level.
    private func level(_ level: Int, of grid: TileGrid, isUniform: Bool, alpha: UInt8 = 255) throws -> Bitmap {
        let layer = grid.layers[level + 1]
        func wave(_ pixel: Int) -> UInt8 {
            let place = Int((Double(pixel) + 0.5) * layer.scale) % 256
            return UInt8(place < 128 ? place * 2 : (255 - place) * 2)
        }
        return try Bitmap.make(layer.width, layer.height) { x, y in
            let color: [UInt8] = isUniform ? [200, 120, 37] : [wave(x), wave(y), wave(x + y)]
            return color.map { UInt8(Int($0) * Int(alpha) / 255) } + [alpha]
        }
    }

    private func part(_ bitmap: Bitmap, _ rect: ImageRect) throws -> Image {
        let pixels = bitmap.pixels
        return Image(
            bitmap: try Bitmap.make(Int(rect.width), Int(rect.height)) { x, y in
                let start = ((Int(rect.y) + y) * bitmap.width + Int(rect.x) + x) * 4
                return Array(pixels[start..<start + 4])
            }
        )
    }

    /// Draws an image in tiles of one layer.
    ///
    /// - Parameter base: the colour drawn where tiles are missing.
    private func tiled(
        _ bitmaps: [Bitmap],
        _ grid: TileGrid,
        zoom: Double,
        scale: Double = 1,
        phase: Double = 0,
        has: (TileIndex) -> Bool = { _ in true },
        base: GdkRGBA = GdkRGBA(red: 1, green: 0, blue: 1, alpha: 1)
    ) throws -> Drawing {
        let store = TileStore(TileSource(grid: grid) { _, _ in throw CancellationError() })
        let whole = ImageRect(x: 0, y: 0, width: Self.width, height: Self.height)
        let layer = grid.layer(forWidth: Double(Self.width) * zoom)
        for layer in Set([layer, min(layer + 1, grid.layers.count - 1)]) {
            for tile in grid.tiles(of: layer, touching: whole) where has(tile) {
                store.insert(try part(bitmaps[grid.layers[layer].level], grid.readPixels(of: tile)), at: tile)
            }
        }
        let size = Self.size(zoom)
        return try Drawing(Int(size.width), Int(size.height)) { snapshot in
            gtk_snapshot_scale(snapshot, Float(scale), Float(scale))
            var origin = graphene_point_t(x: Float(phase / scale), y: Float(phase / scale))
            gtk_snapshot_translate(snapshot, &origin)
            TiledContent(store).draw(
                into: snapshot,
                size: ImageSize(width: size.width / scale, height: size.height / scale),
                scale: scale,
                phase: ImagePoint(x: phase, y: phase),
                viewport: TileViewport(
                    drawn: size,
                    visible: ImageRect(x: 0, y: 0, width: size.width, height: size.height)
                ),
                base: {
                    var (color, bounds) = (base, ImageRect(x: 0, y: 0, width: 9999, height: 9999).graphene)
                    gtk_snapshot_append_color(snapshot, &color, &bounds)
                }
            )
        }
    }

    private static func size(_ zoom: Double) -> ImageSize {
        ImageSize(width: (Double(width) * zoom).rounded(.up), height: (Double(height) * zoom).rounded(.up))
    }

    private func levels(_ grid: TileGrid, isUniform: Bool, alpha: UInt8 = 255) throws -> [Bitmap] {
        try grid.layers.indices.dropLast().map { try level($0, of: grid, isUniform: isUniform, alpha: alpha) }
    }

    @Test(arguments: zooms)
    func `An image of one colour has no lines between tiles, at any scale`(zoom: Double) throws {
        let grid = try TileGridTests.grid(Self.width, Self.height, side: 64)
        let bitmaps = try levels(grid, isUniform: true)
        for scale in [1, 1.25, 1.5, 2] {
            let drawing = try tiled(bitmaps, grid, zoom: zoom, scale: scale)
            #expect(drawing.differences(from: [37, 120, 200, 255]) == 0, "\(zoom) at \(scale)")
        }
    }

    @Test func `A translucent image has no lines between tiles either`() throws {
        let grid = try TileGridTests.grid(Self.width, Self.height, side: 64)
        let bitmaps = try levels(grid, isUniform: true, alpha: 128)
        for zoom in [0.31, 0.8123, 1.37, 2.3] {
            let drawing = try tiled(bitmaps, grid, zoom: zoom, base: GdkRGBA(red: 0, green: 0, blue: 0, alpha: 1))
            #expect(drawing.differences(from: [18, 60, 100, 128]) == 0, "\(zoom)")
        }
    }

    @Test func `An image that begins between device pixels has no lines between tiles`() throws {
        let grid = try TileGridTests.grid(Self.width, Self.height, side: 64)
        let bitmaps = try levels(grid, isUniform: true)
        for (zoom, phase) in [(0.513, 0.5), (1, 0.25), (1.37, 0.75)] {
            let drawing = try tiled(bitmaps, grid, zoom: zoom, scale: 1.5, phase: phase)
            #expect(drawing.differences(from: [37, 120, 200, 255], except: 1) == 0, "\(zoom)")
        }
    }

    @Test(arguments: zooms)
    func `Tiles look like one texture, at any scale`(zoom: Double) throws {
        let grid = try TileGridTests.grid(Self.width, Self.height, side: 64)
        let bitmaps = try levels(grid, isUniform: false)
        let level = grid.layers[grid.layer(forWidth: Double(Self.width) * zoom)].level
        let (layer, size) = (grid.layers[level + 1], Self.size(zoom))
        let content = try #require(PaintableContent(Image(bitmap: bitmaps[level])))
        // The last pixel of a level may cover less of the image than the others.
        let (right, bottom) = (Double(layer.width) * layer.scale, Double(layer.height) * layer.scale)
        let one = try Drawing(Int(size.width), Int(size.height)) {
            let width = size.width * right / Double(Self.width)
            let height = size.height * bottom / Double(Self.height)
            content.draw(into: $0, ImageRect(x: 0, y: 0, width: width, height: height))
        }
        let drawing = try tiled(bitmaps, grid, zoom: zoom)
        // Edges are moved to device pixels, by half a pixel at most; colours differ by up to 2 from pixel to pixel of the full image.
        let most = Int((2 * layer.scale + 2 / max(zoom, 1)).rounded(.up))
        var worst = 0
        for y in 0..<one.height - 1 {
            for x in 0..<one.width - 1 {
                for (first, second) in zip(one.rgba(x, y), drawing.rgba(x, y)) {
                    worst = max(worst, abs(Int(first) - Int(second)))
                }
            }
        }
        #expect(worst <= most, "\(zoom)")
    }

    @Test func `Missing tiles are drawn from the layer below, and cover the same pixels`() throws {
        let grid = try TileGridTests.grid(Self.width, Self.height, side: 64)
        let bitmaps = try levels(grid, isUniform: true)
        for zoom in [0.31, 0.77, 1.37] {
            let layer = grid.layer(forWidth: Double(Self.width) * zoom)
            let drawing = try tiled(bitmaps, grid, zoom: zoom) { $0.layer > layer || ($0.column + $0.row) % 2 == 0 }
            #expect(drawing.differences(from: [37, 120, 200, 255]) == 0, "\(zoom)")
        }
    }

    @Test func `Without any tile, the image below is drawn`() throws {
        let grid = try TileGridTests.grid(Self.width, Self.height, side: 64)
        let drawing = try tiled(try levels(grid, isUniform: true), grid, zoom: 0.77, has: { _ in false })
        #expect(drawing.differences(from: [255, 0, 255, 255]) == 0)
    }
}

extension Drawing {
    /// The number of pixels that do not have a colour, except those near the edges.
    fileprivate func differences(from color: [UInt8], except margin: Int = 0) -> Int {
        var count = 0
        for y in margin..<height - margin {
            for x in margin..<width - margin where !rgba(x, y).isClose(to: color) { count += 1 }
        }
        return count
    }
}
