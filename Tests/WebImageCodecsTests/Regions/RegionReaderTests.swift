import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageCodecs

@Suite(.tags(.threadSanitizer, .addressSanitizer)) struct RegionReaderTests {
    /// A source whose rows a test passes one at a time.
    private final class SteppedSource: RegionSource {
        let gate = WorkQueue(stepped: "pass")
        let rows = Lock(0)
        let steps = Lock(0)
        var passQueue: WorkQueue? { gate }

        func rowsNeeded(for area: PixelArea, level: Int) -> Int { area.bottom }
        func advance() throws(WebImageError) -> Int {
            steps.withLock { $0 += 1 }
            return rows.withLock { rows in
                rows += 10
                return rows
            }
        }
        func read(_ area: PixelArea, level: Int, check: RegionCheck) throws(WebImageError) -> Image { .tiny() }
    }

    private func reader(_ source: any RegionSource, width: Int = 100, height: Int = 100) -> ImageRegionReader {
        ImageRegionReader(
            source,
            properties: ImageProperties(format: .png, width: width, height: height),
            levels: RegionLevel(width: width, height: height).pyramid(tileSize: 64),
            options: RegionOptions()
        )
    }

    @Test func `Levels are halved, rounded up, until one fits into a tile`() {
        let levels = RegionLevel(width: 1025, height: 3).pyramid(tileSize: 256)
        #expect(levels.map(\.width) == [1025, 513, 257, 129] && levels.map(\.height) == [3, 2, 1, 1])
        #expect(RegionLevel(width: 256, height: 1).pyramid(tileSize: 256).count == 1)
    }

    @Test func `The level for a scale has at least the pixels that are shown`() {
        let reader = reader(SteppedSource(), width: 1024, height: 1024)
        #expect([4, 1, 0.51, 0.5, 0.26, 0.25, 0.001].map(reader.level(forScale:)) == [0, 0, 0, 1, 1, 2, 4])
        #expect(reader.tileCount(atLevel: 0) == (2, 2) && reader.tileCount(atLevel: 9) == (0, 0))
        #expect(reader.pixelSize == ImageSize(width: 1024, height: 1024))
    }

    @Test(arguments: [(1, 64), (64, 64), (127, 64), (128, 128), (512, 512), (5000, 2048)])
    func `Tile sizes are powers of two`(wanted: Int, used: Int) {
        var options = RegionOptions()
        options.tileSize = wanted
        #expect(options.usedTileSize == used)
    }

    @Test(arguments: ImageOrientation.allCases)
    func `Stored rectangles are those that are shown upright`(orientation: ImageOrientation) throws {
        // Each pixel is its place.
        let stored = try Bitmap.make(7, 5) { x, y in [UInt8(x), UInt8(y), 0, 255] }
        let upright = try stored.upright(from: orientation)
        let size = RegionLevel(width: upright.width, height: upright.height)
        let area = PixelArea(left: 1, top: 2, width: 3, height: 2)
        let found = area.stored(from: orientation, in: size)
        let part = stored.part(x: found.left, y: found.top, width: found.width, height: found.height)
        let wanted = upright.part(x: area.left, y: area.top, width: area.width, height: area.height)
        #expect(try part.upright(from: orientation).pixels == wanted.pixels)
    }

    @Test func `Rectangles outside and levels that do not exist are errors`() async {
        let reader = reader(SteppedSource())
        let rects = [
            ImageRect(x: 100, y: 0, width: 1, height: 1), ImageRect(x: 0, y: 0, width: 0, height: 1),
            ImageRect(x: .nan, y: 0, width: 1, height: 1), ImageRect(x: 0, y: -5, width: 1, height: 5),
        ]
        for rect in rects {
            let error = await #expect(throws: WebImageError.self) { try await reader.read(rect, level: 0) }
            #expect(error?.code == .transformFailed)
        }
        for level in [-1, 2] {
            let error = await #expect(throws: WebImageError.self) {
                try await reader.read(ImageRect(x: 0, y: 0, width: 1, height: 1), level: level)
            }
            #expect(error?.code == .transformFailed)
        }
    }

    @Test func `Rows are passed only as far as reads need them`() async throws {
        let source = SteppedSource()
        let reader = reader(source)
        async let first = reader.read(ImageRect(x: 0, y: 0, width: 5, height: 25), level: 0)
        // Each step is a job, so that other readers have their turns.
        for _ in 0..<3 {
            await wait(while: source.gate.waitingCount == 0)
            source.gate.takeNext()?()
        }
        _ = try await first
        #expect(source.steps.withLock { $0 } == 3)
        // Rows that were passed are read at once.
        _ = try await reader.read(ImageRect(x: 0, y: 0, width: 5, height: 30), level: 0)
        #expect(source.gate.waitingCount == 0)
    }

    @Test func `A read that is cancelled ends, and its rows are not passed`() async throws {
        let source = SteppedSource()
        let reader = reader(source)
        let task = Task { try await reader.read(ImageRect(x: 0, y: 0, width: 5, height: 100), level: 0) }
        await wait(while: source.gate.waitingCount == 0)
        task.cancel()
        let error = await #expect(throws: WebImageError.self) { try await task.value }
        #expect(error?.code == .cancelled)
        source.gate.takeNext()?()
        #expect(source.steps.withLock { $0 } <= 1)
    }

    @Test(arguments: ["PNG/animated.png", "GIF/animated.gif"])
    func `Small images are decoded as a whole`(name: String) async throws {
        let data = try Fixtures.data(name)
        let reader = try await ImageCodersManager().regionReader(for: data)
        let rect = ImageRect(x: 1, y: 1, width: 6, height: 5)
        let image = try ImageCodersManager().decode(data, options: RegionOptions().decoding)
        let region = try await reader.read(rect, level: 0)
        #expect(try region.bitmap.pixels == image.cropped(to: rect).bitmap.pixels)
        #expect(region.animation == nil)
    }

    @Test func `Files that cannot be opened, and data without an image, are errors`() async {
        let directory = TemporaryDirectory()
        let missing = await #expect(throws: WebImageError.self) {
            try await ImageCodersManager().regionReader(forFileAt: directory.path("missing.jpg"))
        }
        #expect(missing?.code == .fileNotFound)
        let notFile = await #expect(throws: WebImageError.self) {
            try await ImageCodersManager().regionReader(forFileAt: directory.path)
        }
        #expect(notFile?.code == .fileAccessFailed)
        for data in [Data(), Data("no image".utf8)] {
            let error = await #expect(throws: WebImageError.self) {
                try await ImageCodersManager().regionReader(for: data)
            }
            #expect(error?.code == .badImageData)
        }
    }
}
