import FoundationEssentials
import Glibc
import ModelTestSupport
import TestSupport
import Testing
import WebImage

/// Regions that are read in workers.
@Suite(
    .enabled(if: IsolationHarness.isSupported, "this system does not confine processes, or this is a sanitized build"),
    .tags(.threadSanitizer),
    .timeLimit(.minutes(3))
)
struct IsolatedRegionTests {
    private let directory = TemporaryDirectory()

    private func options() -> RegionOptions {
        var options = RegionOptions()
        options.tileSize = 64
        options.maximumWholeByteCount = 0
        options.pyramids = PyramidCache(directory: directory.path("pyramids"))
        return options
    }

    private static func reader(
        _ data: Data,
        _ options: RegionOptions,
        _ change: (inout DecodeIsolation) -> Void = { _ in }
    ) async throws -> ImageRegionReader {
        let coder = IsolatedImageCoder(IsolationHarness.isolation(change), base: AnyImageCoder())
        let coders = ImageCodersManager(coders: [coder])
        return try await RegionBytes(data).reader(coders: coders, options: options)
    }

    private static func rects(_ size: RegionLevel) -> [ImageRect] {
        let (width, height) = (Double(size.width), Double(size.height))
        return [
            ImageRect(x: width / 3, y: height / 3, width: max(width / 4, 1), height: max(height / 5, 1)),
            ImageRect(x: 0, y: 0, width: width, height: height),
        ]
    }

    private static func areEqual(_ theirs: any RegionReader, _ ours: any RegionReader) async throws -> Bool {
        guard theirs.levels == ours.levels else { return false }
        for (level, size) in ours.levels.enumerated() {
            for rect in rects(size) {
                let (found, wanted) = (
                    try await theirs.read(rect, level: level), try await ours.read(rect, level: level)
                )
                guard found.bitmap.pixels == wanted.bitmap.pixels, found.format == wanted.format else { return false }
            }
        }
        return true
    }

    private static let native =
        ["JPEG/baseline-420.jpg", "JPEG/gray.jpg", "JPEG/cmyk-icc.jpg", "Restarts/rows-420.jpg"]
        + (1...8).map { "JPEG/orientation-\($0).jpg" }

    @Test(arguments: native)
    func `A region of a JPEG in a worker equals that of this process, from data and from a file`(name: String)
        async throws
    {
        let data = try Fixtures.data(name)
        let path = directory.path("image.jpg")
        try data.write(to: URL(filePath: path))
        let ours = try await RegionBytes(data).reader(coders: ImageCodersManager(), options: options())
        let theirs = try await Self.reader(data, options())
        #expect(theirs.isNative && theirs.properties == ours.properties)
        #expect(try await Self.areEqual(theirs, ours))
        let coders = ImageCodersManager(coders: [IsolationHarness.coder()])
        let file = try await coders.regionReader(forFileAt: path, options: options())
        #expect(try await Self.areEqual(file, ours))
    }

    @Test(arguments: [
        "PNG/photo-rgba.png", "PNG/icc-wide.png", "PNG/type2-16bit.png", "PNG/icc-linear-16bit-alpha.png",
        "PNG/orientation-6.png", "JPEG/progressive.jpg", "BMP/header124-32bit-alpha.bmp", "JPEG/damaged-codes.jpg",
        "WebP/one-pixel.webp",
    ])
    func `Tiles of rows that a worker decodes equal those of this process`(name: String) async throws {
        guard let data = try? Fixtures.data(name) else {
            Issue.record("no fixture \(name)")
            return
        }
        var own = options()
        own.pyramids?.directory += "-own"
        let ours = try await RegionBytes(data).reader(coders: ImageCodersManager(), options: own)
        #expect(try await Self.areEqual(Self.reader(data, options()), ours))
        // The files are equal, too.
        let files = try [options(), own].map { options in
            let cache = try #require(options.pyramids)
            let names = (try? FileManager.default.contentsOfDirectory(atPath: cache.directory)) ?? []
            return try names.map { try Data(contentsOf: URL(filePath: "\(cache.directory)/\($0)")) }
        }
        #expect(files[0] == files[1])
    }

    @Test func `Formats that are not isolated are read in this process`() async throws {
        let hazards = NamedHazards()
        let data = try Fixtures.data("JPEG/baseline-420.jpg")
        let coder = IsolationHarness.coder { ($0.formats, $0.workerPath) = ([.tiff], hazards.path) }
        let coders = ImageCodersManager(coders: [coder])
        let theirs = try await RegionBytes(data).reader(coders: coders, options: options())
        let ours = try await RegionBytes(data).reader(coders: ImageCodersManager(), options: options())
        #expect(theirs.isNative)
        #expect(try await Self.areEqual(theirs, ours))
        #expect(hazards.workers.isEmpty)
    }

    @Test(arguments: [
        ("segfault", WebImageError.Code.decoderCrashed, "SIGSEGV"), ("socket", .decoderCrashed, "socket"),
        ("passwd", .decoderCrashed, "/etc/passwd"), ("allocate", .outOfMemory, "used up"),
        ("refuse", .badImageData, "no [31m picture"), ("endless", .decoderCrashed, "without end"),
        ("garbage", .decoderCrashed, "invalid reply"), ("small", .decoderCrashed, "not the one asked for"),
        ("rows", .decoderCrashed, "rows are"), ("other", .decoderCrashed, "another request"),
        ("changeable", .decoderCrashed, "can still be changed"), ("nothing", .decoderCrashed, "memory"),
    ])
    func `A hazard is an error of its region`(name: String, code: WebImageError.Code, text: String) async throws {
        // A worker's heap clears what it allocates: the default 2 GiB take a second of processor time, on a busy machine the time limit.
        let reader = try await Self.reader(IsolationHarness.picture(name), options()) {
            $0.maximumMemoryByteCount = 256 << 20
        }
        for _ in 0..<4 {
            let error = await #expect(throws: WebImageError.self) {
                try await reader.read(ImageRect(x: 0, y: 0, width: 4, height: 4), level: 0)
            }
            #expect(error?.code == code && error?.message.contains(text) == true, "\(error as Any)")
        }
    }

    @Test func `A region of another size than the one asked for is refused`() async throws {
        let reader = try await Self.reader(IsolationHarness.picture("picture"), options())
        let rect = ImageRect(x: 0, y: 0, width: 4, height: 4)
        #expect(IsolationHarness.isRight(try await reader.read(rect, level: 0)))
        let part = ImageRect(x: 0, y: 0, width: 2, height: 2)
        let error = await #expect(throws: WebImageError.self) { try await reader.read(part, level: 0) }
        #expect(error?.code == .decoderCrashed && error?.message.contains("4x4 is not the one") == true)
        // In a new worker.
        #expect(IsolationHarness.isRight(try await reader.read(rect, level: 0)))
    }

    @Test(arguments: [("open segfault", WebImageError.Code.decoderCrashed), ("open spin", .decodeTimedOut)])
    func `A hazard while the image is opened is an error`(name: String, code: WebImageError.Code) async throws {
        let error = await #expect(throws: WebImageError.self) {
            try await Self.reader(IsolationHarness.picture(name), options()) { $0.maximumDecodeDuration = 0.5 }
        }
        #expect(error?.code == code, "\(error as Any)")
    }

    @Test func `A region that takes too long is an error`() async throws {
        let reader = try await Self.reader(IsolationHarness.picture("spin"), options()) {
            $0.maximumDecodeDuration = 0.5
        }
        let error = await #expect(throws: WebImageError.self) {
            try await reader.read(ImageRect(x: 0, y: 0, width: 4, height: 4), level: 0)
        }
        #expect(error?.code == .decodeTimedOut)
    }

    @Test func `An image that its worker decodes as a whole has regions, too`() async throws {
        var options = options()
        options.maximumWholeByteCount = 1 << 20
        let reader = try await Self.reader(IsolationHarness.picture("whole"), options)
        #expect(!reader.isNative)
        let image = try await reader.read(ImageRect(x: 0, y: 0, width: 4, height: 4), level: 0)
        #expect(IsolationHarness.isRight(image))
    }

    @Test func `A worker that ended while it was idle is replaced, and ends with its reader`() async throws {
        let hazards = NamedHazards()
        let data = try Fixtures.data("Restarts/rows-420.jpg")
        let ours = try await RegionBytes(data).reader(coders: ImageCodersManager(), options: options())
        var theirs: ImageRegionReader? = try await Self.reader(data, options()) { $0.workerPath = hazards.path }
        let rect = ImageRect(x: 100, y: 300, width: 90, height: 80)
        let wanted = try await ours.read(rect, level: 0).bitmap.pixels
        for round in 0..<3 {
            #expect(try await theirs?.read(rect, level: 0).bitmap.pixels == wanted, "\(round)")
            let workers = hazards.workers
            #expect(!workers.isEmpty)
            for worker in workers { kill(worker, SIGKILL) }
            #expect(await becomes { hazards.workers.isEmpty })
        }
        #expect(try await theirs?.read(rect, level: 0).bitmap.pixels == wanted)
        let workers = hazards.workers.count
        theirs = nil
        // The pool keeps the one that read the header.
        #expect(await becomes { hazards.workers.count < workers })
    }

    @Test func `A cancelled read ends, and later ones are served`() async throws {
        let reader = try await Self.reader(Fixtures.data("Restarts/rows-420.jpg"), options())
        let size = reader.levels[0]
        let all = ImageRect(x: 0, y: 0, width: size.width, height: size.height)
        let task = Task { try await reader.read(all, level: 0) }
        task.cancel()
        let result = await task.result
        if case .failure(let error) = result { #expect((error as? WebImageError)?.code == .cancelled) }
        #expect(try await reader.read(all, level: 0).pixelWidth == size.width)
    }
}

/// Accepts all data, and decodes none: workers do.
private struct AnyImageCoder: ImageCoder {
    private static let error = WebImageError(.unsupportedFormat, "decoded in workers")

    func canDecode(_ data: Data) -> Bool { true }
    func canEncode(to format: ImageFormat) -> Bool { false }

    func properties(of data: Data, limits: ImageLimits) throws(WebImageError) -> ImageProperties { throw Self.error }
    func decode(_ data: Data, options: ImageDecodeOptions) throws(WebImageError) -> Image { throw Self.error }
    func encode(_ image: Image, to format: ImageFormat, options: ImageEncodeOptions) throws(WebImageError) -> Data {
        throw Self.error
    }
}
