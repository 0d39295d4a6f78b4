import WebImage

/// Loads the tiles of an image, and keeps the textures of those drawn last.
@MainActor
final class TileStore {
    struct Stored {
        let content: PaintableContent
        let bytes: Int
        var lastFrame: Int
    }

    /// Reads at a time. More would only delay the tiles that are wanted first.
    static let mostReads = 3
    /// Reads at a time while the image moves: a processor is left for drawing it.
    static let mostReadsInMotion = min(max(CodingQueue.processorCount - 1, 1), mostReads)
    /// The time after a move during which the image counts as moving.
    private static let motion: UInt64 = 150_000_000
    /// New textures in a frame: each is converted or uploaded when it is first drawn.
    static let mostNewInFrame = 4

    let source: TileSource
    /// Bytes of textures that are kept. The tiles on the screen are kept whatever they take.
    var budget = 128 << 20
    /// Called when tiles have arrived that the next frame can draw.
    var arrivalHandler: (() -> Void)?
    /// Called when a tile cannot be read and none has ever been.
    var failureHandler: (() -> Void)?
    private(set) var tiles: [TileIndex: Stored] = [:]
    /// Loaded tiles that no frame has taken yet.
    private(set) var arrived: [(tile: TileIndex, image: Image)] = []
    private(set) var reads: [TileIndex: Task<Void, Never>] = [:]
    /// Tiles that cannot be read. What is below them stays visible.
    private var failed: Set<TileIndex> = []
    /// True once a tile has been read.
    private var hasRead = false
    private var wanted: [TileIndex] = []
    private var frame = 0
    private var viewport: TileViewport?
    private var lastMove: UInt64?
    private let clock: ClockSource

    init(_ source: TileSource, clock: ClockSource = .system) { (self.source, self.clock) = (source, clock) }

    isolated deinit { for task in reads.values { task.cancel() } }

    /// Begins a frame: takes a few of the arrived tiles.
    func beginFrame(_ viewport: TileViewport) {
        frame += 1
        if let former = self.viewport, former.visible != viewport.visible || former.drawn != viewport.drawn {
            lastMove = clock.monotonicNanoseconds()
        }
        self.viewport = viewport
        for (tile, image) in arrived.prefix(Self.mostNewInFrame) { insert(image, at: tile) }
        arrived.removeFirst(min(arrived.count, Self.mostNewInFrame))
        // GTK is drawing now, and does not accept a request for another frame.
        if !arrived.isEmpty { MainLoopQueue.shared.post { [weak self] in self?.arrivalHandler?() } }
    }

    /// Stores missing tiles of an image in memory, as ones that this frame draws.
    func fill(_ wanted: [TileIndex]) {
        guard let part = source.part else { return }
        for tile in wanted where tiles[tile] == nil {
            if let image = part(source.grid.readPixels(of: tile)) { insert(image, at: tile) }
        }
    }

    /// Stores a tile as one that this frame draws.
    func insert(_ image: Image, at tile: TileIndex) {
        guard let content = PaintableContent(image) else {
            failed.insert(tile)
            return
        }
        tiles[tile] = Stored(content: content, bytes: image.memoryCost, lastFrame: frame)
    }

    /// Returns the content of a tile, and counts it as used by this frame; nil if it has not been loaded.
    func use(_ tile: TileIndex) -> PaintableContent? {
        tiles[tile]?.lastFrame = frame
        return tiles[tile]?.content
    }

    func contains(_ tile: TileIndex) -> Bool { tiles[tile] != nil }

    /// Loads missing tiles in this order, stops reading others, and releases tiles that do not fit into the budget.
    func load(_ wanted: [TileIndex]) {
        // A read may fail for want of memory or time, so it is tried again when the zoom has changed.
        if wanted.first?.layer != self.wanted.first?.layer { failed = [] }
        self.wanted = wanted
        let needed = Set(wanted)
        for (tile, task) in reads where !needed.contains(tile) {
            task.cancel()
            reads[tile] = nil
        }
        arrived.removeAll { !needed.contains($0.tile) }
        let inUse = needed.union(tiles.lazy.filter { $0.value.lastFrame == self.frame }.map(\.key))
        let stored = tiles.mapValues { (bytes: $0.bytes, lastFrame: $0.lastFrame) }
        for tile in TileSchedule.released(stored, inUse: inUse, budget: budget) { tiles[tile] = nil }
        startReads()
    }

    /// Stops reading and releases all tiles: the view is not visible any more.
    func clear() {
        load([])
        tiles = [:]
        failed = []
    }

    private func startReads() {
        guard source.part == nil else { return }
        let isMoving = lastMove.map { clock.monotonicNanoseconds() < $0 + Self.motion } ?? false
        let most = isMoving ? Self.mostReadsInMotion : Self.mostReads
        guard reads.count < most else { return }
        let known = Set(arrived.map(\.tile))
        for tile in wanted where tiles[tile] == nil && reads[tile] == nil && !known.contains(tile) {
            guard !failed.contains(tile) else { continue }
            start(tile)
            if reads.count >= most { return }
        }
    }

    private func start(_ tile: TileIndex) {
        let (rect, level) = (source.grid.readPixels(of: tile), source.grid.layers[tile.layer].level)
        // Not more often than the main loop has time, and after its drawing.
        let deliver: @Sendable (Image?) -> Void = { [weak self] image in
            MainLoopQueue.shared.post { self?.take(tile, image) }
        }
        reads[tile] = Task.detached(priority: .userInitiated) { [source] in
            let image = try? await source.read(rect, level)
            if !Task.isCancelled { deliver(image) }
        }
    }

    private func take(_ tile: TileIndex, _ image: Image?) {
        // Cancelled in between, and perhaps wanted again.
        guard reads[tile]?.isCancelled == false else { return }
        reads[tile] = nil
        if let image {
            hasRead = true
            arrived.append((tile, image))
            arrivalHandler?()
        } else {
            failed.insert(tile)
            if !hasRead {
                failureHandler?()
                return
            }
        }
        startReads()
    }
}
