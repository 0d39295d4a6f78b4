package import FoundationEssentials

/// Regions that a server reads, as a rule in a worker process: one at a time.
final class ServedRegions: RegionSource {
    private let server: any RegionServer
    private let levels: [RegionLevel]
    private let orientation: ImageOrientation
    private let stopwatch: Lock<DecodeStopwatch?>
    private let fallback: @Sendable () throws(WebImageError) -> any RegionSource
    private let state: Lock<(readable: [Int], steps: Int)>
    /// The thread that waits for the server. Passes and reads take turns on it.
    private let queue = WorkQueue(name: "webimage.regions", width: 1)

    /// - Parameter fallback: Makes another source, for damaged data.
    init(
        _ server: any RegionServer,
        _ properties: ImageProperties,
        levels: [RegionLevel],
        options: RegionOptions,
        fallback: @escaping @Sendable () throws(WebImageError) -> any RegionSource
    ) {
        (self.server, self.levels, orientation, self.fallback) = (server, levels, properties.orientation, fallback)
        stopwatch = Lock(DecodeStopwatch(options.limits))
        state = Lock((server.readableRows, 0))
    }

    var isNative: Bool { true }
    var passQueue: WorkQueue? { queue }
    var readQueue: WorkQueue? { queue }

    /// Returns 0 for a region that can be read, and otherwise a number that is never reached.
    func rowsNeeded(for area: PixelArea, level: Int) -> Int {
        let bottom = area.stored(from: orientation, in: levels[level]).bottom
        return state.withLock { level < $0.readable.count && bottom <= $0.readable[level] } ? 0 : .max
    }

    func advance() throws(WebImageError) -> Int {
        let readable: [Int]
        if var watch = stopwatch.withLock({ $0 }) {
            defer { stopwatch.withLock { $0 = watch } }
            readable = try watch.measure { (_) throws(WebImageError) in try server.advance() }
        } else {
            readable = try server.advance()
        }
        let steps = state.withLock { state in
            state = (readable, state.steps + 1)
            return state.steps
        }
        // A step passes at least a row.
        guard steps <= levels[0].width + levels[0].height else {
            throw WebImageError(.decoderCrashed, "the decoder passes the image without end")
        }
        return 0
    }

    func read(_ area: PixelArea, level: Int, check: RegionCheck) throws(WebImageError) -> Image {
        try check()
        let image = try server.read(area, level: level)
        guard image.pixelWidth == area.width, image.pixelHeight == area.height, image.orientation == .up else {
            throw WebImageError(.badImageData, "the region has another size than the one asked for")
        }
        return image
    }

    func replacement(after error: WebImageError) throws(WebImageError) -> (any RegionSource)? {
        error.code == .badImageData ? try fallback() : nil
    }
}

extension ImageCodersManager: RegionServingCoder {
    package func regionCoder(for beginning: Data) -> (any ImageCoder)? {
        let coder = coders.last { $0.canDecode(beginning) }
        guard let serving = coder as? any RegionServingCoder else { return coder }
        return serving.regionCoder(for: beginning)
    }

    package func regionServer(of input: RegionInput, _ setup: RegionSetup) throws(WebImageError) -> (any RegionServer)?
    {
        let bytes = try RegionBytes(input)
        guard let coder = regionCoder(for: bytes.beginning) else { return nil }
        if let serving = coder as? any RegionServingCoder { return try serving.regionServer(of: bytes.input, setup) }
        let options = RegionOptions(setup)
        let properties = try bytes.properties(by: coder, options)
        let size = RegionLevel(properties)
        guard size.width == setup.width, size.height == setup.height else {
            throw WebImageError(.badImageData, "the image has changed while it was opened")
        }
        switch setup.purpose {
        case .regions:
            let levels = size.pyramid(tileSize: options.usedTileSize)
            guard let coder = coder as? any RegionCoder,
                let source = try coder.regions(of: bytes, properties: properties, levels: levels, options: options)
            else { return nil }
            return SourceServer(source, properties, levels, options.limits)
        case .rows:
            return try coder.rowStrips(of: bytes, properties, options).map(StripServer.init)
        }
    }
}

/// Serves the regions of a source.
private final class SourceServer: RegionServer, @unchecked Sendable {
    // Sendable because it is used by one thread at a time.

    private let source: any RegionSource
    private let orientation: ImageOrientation
    private let levels: [RegionLevel]
    private let limits: ImageLimits
    private var passed = 0

    init(_ source: any RegionSource, _ properties: ImageProperties, _ levels: [RegionLevel], _ limits: ImageLimits) {
        (self.source, orientation, self.levels, self.limits) = (source, properties.orientation, levels, limits)
    }

    var rowFormat: PixelFormat { .rgb8 }

    var readableRows: [Int] {
        levels.enumerated().map { level, size in
            // The largest number of rows that need no more rows of the source than were passed.
            var rows = 0..<(orientation.swapsSides ? size.width : size.height)
            while !rows.isEmpty {
                let count = (rows.lowerBound + rows.upperBound + 1) / 2
                let area = PixelArea(firstStoredRows: count, from: orientation, in: size)
                let isReadable = source.rowsNeeded(for: area, level: level) <= passed
                rows = isReadable ? count..<rows.upperBound : rows.lowerBound..<count - 1
            }
            return rows.lowerBound
        }
    }

    func advance() throws(WebImageError) -> [Int] {
        try pass()
        return readableRows
    }

    private func pass() throws(WebImageError) {
        let rows = try source.advance()
        guard rows > passed || rows == .max else { throw WebImageError(.badImageData, "the image ends too early") }
        passed = rows
    }

    func read(_ area: PixelArea, level: Int) throws(WebImageError) -> Image {
        guard levels.indices.contains(level), area.left >= 0, area.top >= 0, area.width > 0, area.height > 0,
            area.right <= levels[level].width, area.bottom <= levels[level].height
        else { throw WebImageError(.badImageData, "the region is not within the image") }
        while source.rowsNeeded(for: area, level: level) > passed { try pass() }
        return try source.read(area, level: level, check: RegionCheck(DecodeDeadline(limits)) { true })
    }

    func readRows(_ count: Int, width: Int) throws(WebImageError) -> Bitmap {
        throw WebImageError(.badImageData, "the image was not opened for its rows")
    }
}

/// Serves the rows of an image.
private final class StripServer: RegionServer, @unchecked Sendable {
    // Sendable because it is used by one thread at a time.

    private let strips: any RowStrips
    private var done = 0

    init(_ strips: any RowStrips) { self.strips = strips }

    var rowFormat: PixelFormat { strips.format }
    var readableRows: [Int] { [] }
    func advance() -> [Int] { [] }

    func read(_ area: PixelArea, level: Int) throws(WebImageError) -> Image {
        throw WebImageError(.badImageData, "the image was opened for its rows")
    }

    func readRows(_ count: Int, width: Int) throws(WebImageError) -> Bitmap {
        guard width == strips.width, count > 0, count <= strips.height - done else {
            throw WebImageError(.badImageData, "the rows are not within the image")
        }
        done += count
        return try strips.read(count, nil)
    }
}

extension RegionLevel {
    /// The upright size in a header.
    init(_ properties: ImageProperties) {
        let (width, height) = properties.uprightSize
        self.init(width: width, height: height)
    }
}

extension RegionOptions {
    /// Describes how a server opens an image.
    func setup(_ purpose: RegionSetup.Purpose, _ size: RegionLevel) -> RegionSetup {
        RegionSetup(
            purpose,
            width: size.width,
            height: size.height,
            tileSize: usedTileSize,
            maximumImagePixelCount: maximumImagePixelCount,
            usesOnlyFullSize: usesOnlyFullSize,
            options: decoding
        )
    }

    init(_ setup: RegionSetup) {
        self.init()
        (tileSize, maximumImagePixelCount) = (setup.tileSize, setup.maximumImagePixelCount)
        (usesOnlyFullSize, pixelFormat, limits) = (
            setup.usesOnlyFullSize, setup.options.pixelFormat, setup.options.limits
        )
        pyramids = nil
    }
}
