import FoundationEssentials
import Glibc
import TestSupport
import Testing
import WebImage

@testable import WebImageIsolation

/// Every format in a worker of the product `webimage-decoder`.
@Suite(
    .enabled(
        if: DecoderProgram.isSupported,
        "this system does not confine processes, or this is a sanitized build"
    ),
    .timeLimit(.minutes(4))
)
struct IsolatedFormatTests {
    private let ours = ImageCodersManager.allInProcess()

    private var isolation: DecodeIsolation {
        var isolation = DecodeIsolation()
        (isolation.workerPath, isolation.maximumDecodeDuration) = (DecoderProgram.path, 60)
        return isolation
    }

    private var theirs: IsolatedImageCoder { IsolatedImageCoder(isolation, base: ours) }

    private static var options: [ImageDecodeOptions] {
        var small = ImageDecodeOptions()
        small.thumbnailPixelSize = ImageSize(width: 33, height: 21)
        var wide = ImageDecodeOptions()
        wide.decodeToHDR = true
        var (covering, stretched) = (small, small)
        (covering.thumbnailCovers, stretched.preserveAspectRatio) = (true, false)
        var limited = ImageDecodeOptions()
        limited.scaleDownLimitBytes = 1500
        var (developed, wideDeveloped) = (ImageDecodeOptions(), wide)
        (developed.rawDevelopment, wideDeveloped.rawDevelopment) = (.full, .full)
        return [ImageDecodeOptions(), small, wide, covering, stretched, limited, developed, wideDeveloped]
    }

    @Test func `Regions of tiled TIFF are those of this process`() async throws {
        let names = Fixtures.names(in: "TIFF", ending: "tiff").filter { $0.contains("tiles") }
        #expect(names.count >= 3)
        var options = RegionOptions()
        options.tileSize = 64
        for name in names {
            let data = try Fixtures.data("TIFF/\(name).tiff")
            let own = try await ours.regionReader(for: data, options: options)
            let reader = try await ImageCodersManager(coders: [theirs]).regionReader(for: data, options: options)
            #expect(reader.levels == own.levels)
            for (level, size) in own.levels.enumerated() {
                let rect = ImageRect(x: size.width / 3, y: 0, width: size.width, height: size.height)
                let (found, wanted) = (
                    try await reader.read(rect, level: level), try await own.read(rect, level: level)
                )
                #expect(found.bitmap.pixels == wanted.bitmap.pixels, "\(name) \(level)")
            }
        }
    }

    @Test(arguments: [
        ("AVIF", "avif"), ("HEIF", "heic"), ("JPEGXL", "jxl"), ("TIFF", "tiff"), ("SVG", "svg"), ("RAW", "dng"),
    ])
    func `Every fixture has the same result as in this process: image, header or error`(folder: String, ending: String)
        async throws
    {
        let (ours, theirs) = (ours, theirs)
        let names = Fixtures.names(in: folder, ending: ending)
        #expect(names.count > 5)
        for name in names {
            let data = try Fixtures.data("\(folder)/\(name).\(ending)")
            for options in Self.options {
                let expected = await Self.outcome(data, options, ours)
                let found = await Self.outcome(data, options, theirs)
                #expect(Self.areEqual(found, expected), "\(name) \(found) \(expected)")
            }
            let expected = await Self.properties(data, ours)
            #expect(await Self.properties(data, theirs) == expected, "\(name)")
        }
    }

    @Test(arguments: ThreadedDecodingTests.kinds)
    func `Large images are decoded on the only thread of a worker`(kind: ThreadedDecodingTests.Kind) async throws {
        let data = try ThreadedDecodingTests.file(kind)
        let (expected, found) = (try await Image.decode(data, coder: ours), try await Image.decode(data, coder: theirs))
        #expect(Self.areSame(expected, found))
    }

    @Test(arguments: ["AVIF/sequence.avif", "AVIF/sequence-alpha.avif"])
    func `Frames of sequences are the same as in this process`(file: String) async throws {
        let data = try Fixtures.data(file)
        let (expected, found) = (try await Self.frames(data, ours), try await Self.frames(data, theirs))
        #expect(expected.count > 1 && expected.count == found.count)
        for (expected, found) in zip(expected, found) { #expect(Self.areSame(expected, found)) }
    }

    @Test(arguments: ["sans-serif", "serif", "monospace", "DejaVu Sans Condensed", "no such font"])
    func `Text is drawn with the same fonts`(family: String) async throws {
        let drawing = """
            <svg xmlns="http://www.w3.org/2000/svg" width="300" height="90" font-family="\(family)">
            <text y="20">Grüße, 12</text><text y="45" font-weight="bold">Ωμέγα</text>
            <text y="75" font-style="italic" font-size="24">Щука</text></svg>
            """
        let data = Data(drawing.utf8)
        let expected = try await Image.decode(data, coder: ours)
        let found = try await Image.decode(data, coder: theirs)
        #expect(Self.areSame(expected, found))
        // Something is drawn, if there are any fonts.
        let isEmpty = expected.bitmap.withUnsafeBytes { $0.allSatisfy { $0 == 0 } }
        #expect(!isEmpty || access("/usr/share/fonts/truetype", F_OK) != 0)
    }

    @Test func `The workers have the full sandbox, and one thread when it is installed`() async throws {
        for kind in WorkerKind.allCases {
            let isolation = isolation
            let paths = [WorkerKind.pdf: DecoderProgram.pdfPath, .video: DecoderProgram.videoPath]
            let walls = try await Self.onThread { () -> WorkerSandbox in
                try WorkerProcess(
                    WorkerProgram(path: paths[kind] ?? DecoderProgram.path),
                    kind,
                    memory: isolation.maximumMemoryByteCount
                )
                .walls
            }
            #expect(walls.hasSeccomp && walls.threads == 1 && walls.version == WorkerSandbox.version)
            let hasLandlock = access("/sys/kernel/security/landlock", F_OK) == 0 || walls.landlock > 0
            #expect(walls.readsFonts == (kind.readsFiles && hasLandlock))
        }
    }

    @Test func `Damaged files have the same errors, and no worker is lost by them`() async throws {
        let (ours, theirs) = (ours, theirs)
        for file in [
            "AVIF/420.avif", "HEIF/420.heic", "JPEGXL/one-pixel.jxl", "TIFF/photo-lzw.tiff", "SVG/entities.svg",
            "RAW/previews.dng",
        ] {
            let whole = try Fixtures.data(file)
            for part in [1, 5, 9, 13] {
                let data = whole.prefix(whole.count * part / 16)
                let expected = await Self.outcome(data, ImageDecodeOptions(), ours)
                let found = await Self.outcome(data, ImageDecodeOptions(), theirs)
                #expect(Self.areEqual(found, expected), "\(file) \(part)/16 \(found) \(expected)")
            }
        }
    }

    @Test func `A decoder started by hand prints what it is`() throws {
        let run = try ProgramRun(DecoderProgram.path, [])
        #expect(run.status == 64 && run.errors.contains("webimage-decoder"))
        #expect(try ProgramRun(DecoderProgram.path, [WorkerProgram.argument, "sealed"]).status == 64)
        #expect(try ProgramRun(DecoderProgram.path, [WorkerProgram.argument, "open", "100"]).status == 64)
    }

    private static func outcome(
        _ data: Data,
        _ options: ImageDecodeOptions,
        _ coder: any ImageCoder
    ) async -> Result<Image, WebImageError> {
        do throws(WebImageError) {
            return .success(try await Image.decode(data, options: options, coder: coder))
        } catch {
            return .failure(error)
        }
    }

    private static func properties(_ data: Data, _ coder: any ImageCoder) async -> ImageProperties? {
        try? await ImageProperties.read(from: data, coder: coder)
    }

    private static func frames(_ data: Data, _ coder: any AnimatedImageCoder) async throws -> [Image] {
        try await onThread {
            let animation = try coder.animation(of: data, options: ImageDecodeOptions())
            return try (0..<animation.frameCount).map { try animation.frame(at: $0) }
        }
    }

    private static func onThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value
    {
        let result: Result<Value, any Error> = await withCheckedContinuation { continuation in
            startThread { continuation.resume(returning: Result { try body() }) }
        }
        return try result.get()
    }

    private static func areEqual(_ left: Result<Image, WebImageError>, _ right: Result<Image, WebImageError>) -> Bool {
        switch (left, right) {
        case (.success(let left), .success(let right)): areSame(left, right)
        case (.failure(let left), .failure(let right)): left == right && left.message == right.message
        default: false
        }
    }

    private static func areSame(_ left: Image, _ right: Image) -> Bool {
        guard left.metadata == right.metadata, left.bitmap.pixelFormat == right.bitmap.pixelFormat,
            left.pixelWidth == right.pixelWidth, left.pixelHeight == right.pixelHeight
        else { return false }
        let row = left.pixelWidth * left.bitmap.pixelFormat.bytesPerPixel
        let (leftLength, rightLength) = (left.bitmap.bytesPerRow, right.bitmap.bytesPerRow)
        return left.bitmap.withUnsafeBytes { leftBytes in
            right.bitmap.withUnsafeBytes { rightBytes in
                (0..<left.pixelHeight).allSatisfy { y in
                    guard let left = leftBytes.baseAddress, let right = rightBytes.baseAddress else { return false }
                    return memcmp(left + y * leftLength, right + y * rightLength, row) == 0
                }
            }
        }
    }
}
