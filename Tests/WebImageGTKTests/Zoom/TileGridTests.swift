import Testing
import WebImage

@testable import WebImageGTK

/// The tiles of an image at each of its sizes: numbers, without a window.
@Suite struct TileGridTests {
    static func grid(_ width: Int, _ height: Int, side: Int = 128) throws -> TileGrid {
        var levels = [(width: width, height: height)]
        while let last = levels.last, max(last.width, last.height) > side {
            levels.append(((last.width + 1) / 2, (last.height + 1) / 2))
        }
        return try #require(TileGrid(levels: levels, side: side))
    }

    private let whole = ImageRect(x: 0, y: 0, width: 1000, height: 700)

    @Test(arguments: [
        (16_000.0, 0), (2000, 0), (1002, 0), (1001, 1), (1000, 1), (999, 1), (501, 1), (500, 2), (251, 2), (250, 3),
        (126, 3), (125, 4), (10, 4), (0, 4),
    ])
    func `A layer has at least the pixels of the screen, and not twice as many if a coarser one has enough`(
        width: Double,
        layer: Int
    ) throws {
        #expect(try Self.grid(1000, 700).layer(forWidth: width) == layer)
    }

    @Test func `Only enlarged tiles overlap`() throws {
        let grid = try Self.grid(1000, 700)
        #expect(grid.layers.map(\.overlap) == [1, 0, 0, 0, 0])
        #expect(grid.layers.map(\.level) == [0, 0, 1, 2, 3])
        let corner = TileIndex(layer: 0, column: 0, row: 0)
        #expect(grid.readPixels(of: corner) == ImageRect(x: 0, y: 0, width: 129, height: 129))
        let inner = TileIndex(layer: 0, column: 2, row: 1)
        #expect(grid.readPixels(of: inner) == ImageRect(x: 255, y: 127, width: 130, height: 130))
        let last = TileIndex(layer: 0, column: 7, row: 5)
        #expect(grid.readPixels(of: last) == ImageRect(x: 895, y: 639, width: 105, height: 61))
        let plain = TileIndex(layer: 1, column: 2, row: 1)
        #expect(grid.readPixels(of: plain) == ImageRect(x: 256, y: 128, width: 128, height: 128))
    }

    @Test(arguments: [(1000, 700), (1001, 701), (129, 1), (1, 4097), (128, 128), (999, 513)])
    func `The tiles of each layer cover the image without a gap, and none twice`(width: Int, height: Int) throws {
        let grid = try Self.grid(width, height)
        let whole = ImageRect(x: 0, y: 0, width: width, height: height)
        for (index, layer) in grid.layers.enumerated() {
            let tiles = grid.tiles(of: index, touching: whole)
            #expect(Set(tiles).count == tiles.count)
            let pixels = tiles.map { grid.pixels(of: $0) }
            #expect(pixels.reduce(0) { $0 + $1.width * $1.height } == Double(layer.width * layer.height))
            let rects = tiles.map { grid.rect(of: $0) }
            #expect(rects.reduce(0) { $0 + $1.width * $1.height } == Double(width * height))
            #expect(rects.allSatisfy { $0.isUsable && $0.x + $0.width <= Double(width) })
            for (first, rect) in rects.enumerated() {
                #expect(rects.dropFirst(first + 1).allSatisfy { rect.intersection($0) == nil })
            }
        }
    }

    @Test func `A rectangle touches the tiles that show a part of it`() throws {
        let grid = try Self.grid(1000, 700)
        func places(_ x: Double, _ y: Double, _ width: Double, _ height: Double, _ layer: Int = 1) -> [[Int]] {
            grid.tiles(of: layer, touching: ImageRect(x: x, y: y, width: width, height: height)).map {
                [$0.column, $0.row]
            }
        }
        #expect(places(0, 0, 128, 128) == [[0, 0]])
        #expect(places(127.9, 0, 0.2, 1) == [[0, 0], [1, 0]])
        #expect(places(128, 128, 1, 1) == [[1, 1]])
        #expect(places(-500, -500, 501, 501) == [[0, 0]])
        #expect(places(990, 690, 1e9, 1e9) == [[7, 5]])
        #expect(places(300, 300, 10, 10, 2) == [[1, 1]])
        #expect(places(1000, 0, 10, 10).isEmpty)
        #expect(places(-10, 0, 10, 10).isEmpty)
        #expect(places(0, 0, 0, 10).isEmpty)
        #expect(places(.nan, 0, 10, 10).isEmpty)
        #expect(places(0, 0, .infinity, 10).isEmpty)
        #expect(places(0, 0, 10, 10, 5).isEmpty)
    }

    @Test func `Sizes that cannot be are refused`() {
        #expect(TileGrid(levels: [], side: 512) == nil)
        #expect(TileGrid(levels: [(0, 10)], side: 512) == nil)
        #expect(TileGrid(levels: [(10, 10), (5, -1)], side: 512) == nil)
        #expect(TileGrid(levels: [(10, 10)], side: 0) == nil)
        #expect(
            TileGrid(levels: [(10, 10)], side: 2048) == nil,
            "with its overlap, a tile would be larger than a texture"
        )
    }
}
