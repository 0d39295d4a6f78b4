import TestSupport
import Testing
import WebImage

@testable import WebImageGTK

/// Which tiles are loaded, drawn and released: values, without a window.
@Suite struct TileScheduleTests {
    private let grid: TileGrid

    init() throws { grid = try TileGridTests.grid(4096, 4096) }

    private func viewport(_ zoom: Double, _ x: Double, _ y: Double, pointer: ImagePoint? = nil) -> TileViewport {
        TileViewport(
            drawn: ImageSize(width: 4096 * zoom, height: 4096 * zoom),
            visible: ImageRect(x: x, y: y, width: 600, height: 400),
            pointer: pointer
        )
    }

    private func tile(_ layer: Int, _ column: Int, _ row: Int) -> TileIndex {
        TileIndex(layer: layer, column: column, row: row)
    }

    @Test(arguments: [
        // Zoom, place, layer, and the first and last tile in the order of rows.
        (1.0, 0.0, 0.0, 1, [0, 0], [4, 3]), (1, 1000, 1000, 1, [7, 7], [12, 10]), (0.5, 0, 0, 2, [0, 0], [4, 3]),
        (0.4, 100, 100, 2, [0, 0], [6, 4]), (0.25, 424, 624, 3, [3, 4], [7, 7]), (4, 512, 512, 0, [1, 1], [2, 1]),
        (1, 3496, 3696, 1, [27, 28], [31, 31]),
    ])
    func `The visible tiles are those of the layer for the zoom`(
        zoom: Double,
        x: Double,
        y: Double,
        layer: Int,
        first: [Int],
        last: [Int]
    ) {
        let schedule = TileSchedule(grid, viewport(zoom, x, y))
        #expect(schedule.layer == layer)
        let tiles = schedule.visible.sorted { ($0.row, $0.column) < ($1.row, $1.column) }
        #expect(tiles.first == tile(layer, first[0], first[1]))
        #expect(tiles.last == tile(layer, last[0], last[1]))
        #expect(tiles.count == (last[0] - first[0] + 1) * (last[1] - first[1] + 1))
    }

    @Test func `Tiles near the pointer are the first, and those near the middle without a pointer`() {
        let pointer = ImagePoint(x: 1590, y: 1390)
        let near = TileSchedule(grid, viewport(1, 1000, 1000, pointer: pointer)).visible
        #expect(near.first == tile(1, 12, 10))
        #expect(near.last == tile(1, 7, 7))
        let middle = TileSchedule(grid, viewport(1, 1000, 1000)).visible
        #expect(middle.first == tile(1, 10, 9))
    }

    @Test func `The tiles around them follow, as many as fit into the budget`() {
        let schedule = TileSchedule(grid, viewport(1, 1000, 1000))
        #expect(schedule.visible.count == 24)
        #expect(schedule.nearby.count == 8 * 6 - 24)
        let bytes = 128 * 128 * 4
        #expect(schedule.wanted(within: 100 * bytes) == schedule.visible + schedule.nearby)
        #expect(schedule.wanted(within: 30 * bytes) == schedule.visible + schedule.nearby.prefix(6))
        #expect(schedule.wanted(within: 0) == schedule.visible)
        let corner = TileSchedule(grid, viewport(1, 0, 0))
        #expect(corner.nearby.count == 6 * 5 - 20, "none outside the image")
    }

    @Test func `A part of the image that is not visible needs no tiles`() {
        let schedule = TileSchedule(grid, viewport(1, 5000, 0))
        #expect(schedule.visible.isEmpty && schedule.nearby.isEmpty)
    }

    @Test func `A missing tile is drawn from the old layer, whole or not at all`() {
        let schedule = TileSchedule(grid, viewport(0.5, 0, 0))
        let missing = tile(2, 1, 1)
        let rect = grid.rect(of: missing)
        func drawn(_ stored: Set<TileIndex>) -> [TileSchedule.Placement] {
            schedule.placements(stored.contains).filter { rect.intersection($0.rect) != nil }
        }
        #expect(drawn([]) == [.init(rect: rect, tile: nil)])
        #expect(drawn([missing]) == [.init(rect: rect, tile: missing)])
        // The image was zoomed in.
        #expect(drawn([tile(3, 0, 0)]) == [.init(rect: rect, tile: tile(3, 0, 0))])
        #expect(drawn([tile(5, 0, 0)]) == [.init(rect: rect, tile: tile(5, 0, 0))])
        #expect(drawn([tile(5, 0, 0), tile(4, 0, 0)]) == [.init(rect: rect, tile: tile(4, 0, 0))])
        #expect(drawn([tile(3, 1, 1)]) == [.init(rect: rect, tile: nil)])
        // The image was zoomed out.
        let sharper = [tile(1, 2, 2), tile(1, 3, 2), tile(1, 2, 3), tile(1, 3, 3)]
        #expect(drawn(Set(sharper + [tile(3, 0, 0)])) == sharper.map { .init(rect: grid.rect(of: $0), tile: $0) })
        #expect(drawn(Set(sharper.dropLast() + [tile(3, 0, 0)])) == [.init(rect: rect, tile: tile(3, 0, 0))])
    }

    @Test(arguments: 0..<32)
    func `Each visible part is drawn once, whatever has been loaded`(seed: UInt64) throws {
        let grid = try TileGridTests.grid(1999, 1501)
        var random = SeededGenerator(seed: seed)
        let zoom = [0.1, 0.3, 0.5, 0.77, 1, 2.5][Int(random.next() % 6)]
        let viewport = TileViewport(
            drawn: ImageSize(width: 1999 * zoom, height: 1501 * zoom),
            visible: ImageRect(x: Double(random.next() % 900), y: Double(random.next() % 300), width: 500, height: 300)
        )
        let schedule = TileSchedule(grid, viewport)
        let whole = ImageRect(x: 0, y: 0, width: 1999, height: 1501)
        var stored: Set<TileIndex> = []
        for layer in grid.layers.indices {
            for tile in grid.tiles(of: layer, touching: whole) where random.next() % 2 == 0 { stored.insert(tile) }
        }
        let placements = schedule.placements { stored.contains($0) }
        #expect(placements.compactMap(\.tile).allSatisfy { stored.contains($0) })
        let drawn = placements.reduce(0) { $0 + $1.rect.width * $1.rect.height }
        let needed = schedule.visible.map { grid.rect(of: $0) }.reduce(0) { $0 + $1.width * $1.height }
        #expect(abs(drawn - needed) < 1e-6)
        for (index, placement) in placements.enumerated() {
            #expect(placements.dropFirst(index + 1).allSatisfy { placement.rect.intersection($0.rect) == nil })
        }
    }

    @Test func `Tiles beyond the budget are released, the least recently drawn first, and none in use`() {
        let stored = Dictionary(
            uniqueKeysWithValues: (0..<10).map { (tile(1, $0, 0), (bytes: 100, lastFrame: $0 % 5)) }
        )
        func released(_ budget: Int, inUse: Set<TileIndex> = []) -> [Int] {
            TileSchedule.released(stored, inUse: inUse, budget: budget).map(\.column)
        }
        #expect(released(1000).isEmpty)
        #expect(released(999) == [0])
        #expect(released(700) == [0, 5, 1])
        #expect(released(700, inUse: [tile(1, 0, 0), tile(1, 1, 0)]) == [5, 6, 2])
        #expect(released(0).count == 10)
        #expect(released(0, inUse: Set(stored.keys)).isEmpty)
    }
}
