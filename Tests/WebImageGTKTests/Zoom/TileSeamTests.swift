import CTestSupport
import CWebImageGTK4
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageGTK

/// Images drawn in tiles, compared with one texture: pixels, without a window.
@Suite(.serialized) @MainActor struct TileSeamTests {
    nonisolated private static let (width, height, side) = (300, 220, 32)
    nonisolated private static let zooms = [
        0.17, 0.2, 0.25, 0.31, 0.4177, 0.5, 0.513, 0.6667, 0.75, 0.8123, 0.9, 0.999, 1, 1.1, 1.25, 1.37, 1.5, 1.777, 2,
        2.3, 3.1, 5.7,
    ]
    private static let color: [UInt8] = [37, 120, 200, 255]

    private let grid: TileGrid

    init() throws { grid = try TileGridTests.grid(Self.width, Self.height, side: Self.side) }

    /// An image of one colour, or one whose colours rise and fall with the place, at each of its sizes.
    private func levels(isUniform: Bool, alpha: Int = 255) throws -> [Bitmap] {
        try grid.layers.dropFirst().map { layer in
            let wave = (0..<layer.width + layer.height).map { pixel -> UInt8 in
                let place = Int((Double(pixel) + 0.5) * layer.scale) % 256
                return UInt8(place < 128 ? place * 2 : (255 - place) * 2)
            }
            let bitmap = try Bitmap.allocate(
                width: layer.width,
                height: layer.height,
                pixelFormat: .bgra8Premultiplied
            )
            let colors = Self.color.prefix(3).reversed().map { UInt8(Int($0) * alpha / 255) }
            let plain = SIMD4(colors + [UInt8(alpha)])
            for y in 0..<layer.height {
                let row = bitmap.mutableRow(y).bindMemory(to: SIMD4<UInt8>.self, capacity: layer.width)
                for x in 0..<layer.width {
                    row[x] = isUniform ? plain : SIMD4(wave[x], wave[y], wave[x + y], 255)
                }
            }
            return bitmap
        }
    }

    private func part(_ bitmap: Bitmap, _ rect: ImageRect) throws -> Image {
        let (width, height) = (Int(rect.width), Int(rect.height))
        let part = try Bitmap.allocate(width: width, height: height, pixelFormat: .bgra8Premultiplied)
        for y in 0..<height {
            let row = bitmap.mutableRow(Int(rect.y) + y) + Int(rect.x) * 4
            part.mutableRow(y).copyMemory(from: row, byteCount: width * 4)
        }
        return Image(bitmap: part)
    }

    /// Draws an image in tiles of one layer.
    ///
    /// - Parameter base: the colour drawn where tiles are missing.
    private func tiled(
        _ bitmaps: [Bitmap],
        zoom: Double,
        scale: Double = 1,
        phase: Double = 0,
        isOpaque: Bool = true,
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
                at: TileEdges(
                    image: grid.size,
                    drawn: ImageSize(width: size.width / scale, height: size.height / scale),
                    scale: scale,
                    phase: ImagePoint(x: phase, y: phase)
                ),
                TileViewport(drawn: size, visible: ImageRect(x: 0, y: 0, width: size.width, height: size.height)),
                isOpaque: isOpaque,
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

    @Test(arguments: zooms)
    func `An image of one colour has no lines between tiles, at any scale`(zoom: Double) throws {
        let bitmaps = try levels(isUniform: true)
        for scale in [1, 1.25, 1.5, 2] {
            let drawing = try tiled(bitmaps, zoom: zoom, scale: scale)
            #expect(drawing.differences(from: Self.color) == 0, "\(zoom) at \(scale)")
        }
    }

    @Test func `A translucent image has no lines between tiles either, and nothing shows through it twice`() throws {
        let bitmaps = try levels(isUniform: true, alpha: 128)
        for zoom in [0.31, 0.8123, 1.37, 2.3] {
            let layer = grid.layer(forWidth: Double(Self.width) * zoom)
            for hasAll in [true, false] {
                let drawing = try tiled(bitmaps, zoom: zoom, isOpaque: false) {
                    hasAll || $0.layer > layer || ($0.column + $0.row) % 2 == 0
                }
                #expect(drawing.differences(from: [18, 60, 100, 128]) == 0, "\(zoom)")
            }
        }
    }

    @Test func `An image that begins between device pixels has no lines between tiles`() throws {
        let bitmaps = try levels(isUniform: true)
        for (zoom, phase) in [(0.513, 0.5), (1, 0.25), (1.37, 0.75)] {
            let drawing = try tiled(bitmaps, zoom: zoom, scale: 1.5, phase: phase)
            #expect(drawing.differences(from: Self.color, except: 1) == 0, "\(zoom)")
        }
    }

    @Test(arguments: zooms)
    func `Tiles look like one texture, at any scale`(zoom: Double) throws {
        let bitmaps = try levels(isUniform: false)
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
        let drawing = try tiled(bitmaps, zoom: zoom)
        // Edges are moved to device pixels, by half a pixel at most; colours differ by up to 2 from pixel to pixel of the full image.
        let most = Int((2 * layer.scale + 2 / max(zoom, 1)).rounded(.up))
        let worst = one.worstDifference(from: drawing)
        #expect(worst <= most, "\(zoom)")
    }

    @Test func `Missing tiles are drawn from the layer below, and cover the same pixels`() throws {
        let bitmaps = try levels(isUniform: true)
        for zoom in [0.31, 0.77, 1.37] {
            let layer = grid.layer(forWidth: Double(Self.width) * zoom)
            let drawing = try tiled(bitmaps, zoom: zoom) { $0.layer > layer || ($0.column + $0.row) % 2 == 0 }
            #expect(drawing.differences(from: Self.color) == 0, "\(zoom)")
        }
    }

    @Test func `Without any tile, the image below is drawn`() throws {
        let drawing = try tiled(try levels(isUniform: true), zoom: 0.77, has: { _ in false })
        #expect(drawing.differences(from: [255, 0, 255, 255]) == 0)
    }
}

extension Drawing {
    /// The number of pixels that do not have a colour, except those near the edges.
    fileprivate func differences(from color: [UInt8], except margin: Int = 0) -> Int {
        let stored = [color[2], color[1], color[0], color[3]]
        return bytes.withUnsafeBufferPointer { bytes in
            (margin..<height - margin).reduce(0) { count, y in
                let row = bytes.extracting((y * width + margin) * 4..<((y + 1) * width - margin) * 4)
                return count + ctest_count_unlike(row.baseAddress, row.count / 4, stored)
            }
        }
    }

    /// The largest difference of a channel, except in the last row and column, which an image may cover in part.
    fileprivate func worstDifference(from other: Drawing) -> Int {
        bytes.withUnsafeBufferPointer { first in
            other.bytes.withUnsafeBufferPointer { second in
                (0..<height - 1).reduce(0) { worst, y in
                    let row = y * width * 4..<((y + 1) * width - 1) * 4
                    let (ours, theirs) = (first.extracting(row), second.extracting(row))
                    return max(worst, ctest_worst_difference(ours.baseAddress, theirs.baseAddress, row.count))
                }
            }
        }
    }
}
