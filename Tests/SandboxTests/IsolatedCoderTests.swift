import FoundationEssentials
import TestSupport
import Testing
import WebImage

@Suite(
    .enabled(if: IsolationHarness.isSupported, "this system does not confine processes, or this is a sanitized build"),
    .timeLimit(.minutes(3))
)
struct IsolatedCoderTests {
    private let coder = IsolationHarness.coder()

    /// Images of the core formats.
    private static let files = [
        "JPEG/orientation-6.jpg", "JPEG/icc-wide.jpg", "JPEG/gray.jpg", "PNG/photo-rgba.png", "PNG/tiny-1x1.png",
        "PNG/icc-wide.png",
        "GIF/animated.gif", "WebP/animated.webp", "WebP/one-pixel.webp", "PNG/animated.png", "BMP/header12-1bit.bmp",
        "ICO/mask-4bit.ico",
    ]

    @Test(arguments: files)
    func `A worker's result equals this process's, to the bit`(file: String) async throws {
        let data = try Fixtures.data(file)
        var small = ImageDecodeOptions()
        small.thumbnailPixelSize = ImageSize(width: 20, height: 20)
        small.scaleFactor = 2
        var wide = ImageDecodeOptions()
        wide.pixelFormat = .bgra8Premultiplied
        var first = ImageDecodeOptions()
        first.decodeFirstFrameOnly = true
        var (covering, stretched) = (small, small)
        (covering.thumbnailCovers, stretched.preserveAspectRatio) = (true, false)
        var limited = ImageDecodeOptions()
        limited.scaleDownLimitBytes = 1500
        for options in [ImageDecodeOptions(), small, wide, first, covering, stretched, limited] {
            let theirs = try await Image.decode(data, options: options, coder: coder)
            let ours = try await Image.decode(data, options: options, coder: ImageCodersManager())
            #expect(IsolationComparison.areEqual(theirs, ours))
        }
        let theirs = try await ImageProperties.read(from: data, coder: coder)
        #expect(try await theirs == ImageProperties.read(from: data, coder: ImageCodersManager()))
    }

    @Test(arguments: ["GIF/animated.gif", "WebP/animated.webp", "PNG/animated.png"])
    func `Frames are those of this process, in any order`(file: String) async throws {
        let data = try Fixtures.data(file)
        let coder = coder
        try await valueOnThread {
            Result {
                let theirs = try coder.animation(of: data, options: ImageDecodeOptions())
                let ours = try ImageCodersManager().animation(of: data, options: ImageDecodeOptions())
                #expect(theirs.frameCount == ours.frameCount && theirs.loopCount == ours.loopCount)
                #expect(theirs.animatedImageData == data)
                for index in Array(0..<ours.frameCount) + [0, ours.frameCount - 1, 0] {
                    #expect(theirs.duration(at: index) == ours.duration(at: index))
                    #expect(IsolationComparison.areEqual(try theirs.frame(at: index), try ours.frame(at: index)))
                    if index == 1 { theirs.releaseDecoder() }
                }
                #expect(theirs.duration(at: -1) == 0 && theirs.duration(at: 1000) == 0)
                for index in [-1, ours.frameCount] {
                    #expect(throws: WebImageError.self) { try theirs.frame(at: index) }
                }
            }
        }.get()
    }

    @Test func `A frame that crashes its worker is an error, and later frames are decoded`() async throws {
        let coder = coder
        try await valueOnThread {
            Result {
                let data = IsolationHarness.picture("segfault")
                let animation = try coder.animation(of: data, options: ImageDecodeOptions())
                #expect(animation.frameCount == 3)
                for _ in 0..<2 {
                    #expect(IsolationHarness.isRight(try animation.frame(at: 0)))
                    let error = #expect(throws: WebImageError.self) { try animation.frame(at: 1) }
                    #expect(error?.code == .decoderCrashed)
                    // The worker keeps its image: the received one is a copy.
                    for _ in 0..<3 { #expect(IsolationHarness.isRight(try animation.frame(at: 2), first: 2)) }
                }
            }
        }.get()
    }

    @Test func `Damaged images have the same errors as in this process`() async throws {
        let data = try Fixtures.data("JPEG/gray.jpg").prefix(500)
        var limits = ImageDecodeOptions()
        limits.limits.maximumPixelCount = 3
        for (data, options) in [
            (data, ImageDecodeOptions()), (Data("no picture".utf8), ImageDecodeOptions()),
            (try Fixtures.data("PNG/photo-rgba.png"), limits),
            (Data(PNGBomb.make(width: 30_000, height: 30_000)), .init()),
        ] {
            let theirs = await #expect(throws: WebImageError.self) {
                try await Image.decode(data, options: options, coder: coder)
            }
            let ours = await #expect(throws: WebImageError.self) {
                try await Image.decode(data, options: options, coder: ImageCodersManager())
            }
            #expect(theirs == ours && theirs?.message == ours?.message)
        }
    }

    @Test func `Only the named formats are decoded in workers`() async throws {
        let coder = IsolationHarness.coder { ($0.formats, $0.workerPath) = ([.gif], "/nonexistent") }
        #expect(try await Image.decode(Fixtures.data("PNG/photo-rgb.png"), coder: coder).pixelWidth == 120)
        let error = await #expect(throws: WebImageError.self) {
            try await Image.decode(Fixtures.data("GIF/animated.gif"), coder: coder)
        }
        #expect(error?.code == .decoderUnavailable)
        #expect(coder.canDecodeIncrementally(try Fixtures.data("PNG/photo-rgb.png")))
        #expect(!coder.canDecodeIncrementally(try Fixtures.data("GIF/animated.gif")))
        #expect(coder.canDecode(try Fixtures.data("GIF/animated.gif")) && !coder.canDecode(Data("x".utf8)))
        #expect(coder.canEncode(to: .png) && coder.canEncodeAnimation(to: .webp) && !coder.canEncode(to: .svg))
    }

    @Test func `The formats of higher risk are the documented ones`() {
        let formats: Set<ImageFormat> = [.svg, .pdf, .heic, .heif, .avif, .jpegXL, .tiff, .raw]
        #expect(DecodeIsolation.risky.formats == formats.union([.mp4, .quickTime, .webM, .matroska]))
        #expect(DecodeIsolation().formats == nil && DecodingPlace.isolated.isolation == DecodeIsolation())
        #expect(DecodingPlace.inProcess.isolation == nil)
    }

    @Test func `Equivalent coders of loads are equal`() {
        let isolation = IsolationHarness.isolation()
        let base = ImageCodersManager()
        let coder = DecodingPlace.isolated(isolation).coder(insteadOf: base)
        #expect(CoderIdentity(coder) == CoderIdentity(DecodingPlace.isolated(isolation).coder(insteadOf: base)))
        #expect(CoderIdentity(coder) != CoderIdentity(DecodingPlace.isolated.coder(insteadOf: base)))
        #expect(
            CoderIdentity(coder)
                != CoderIdentity(DecodingPlace.isolated(isolation).coder(insteadOf: ImageCodersManager()))
        )
        // A coder that is already isolated stays unchanged.
        #expect(CoderIdentity(DecodingPlace.isolated.coder(insteadOf: coder)) == CoderIdentity(coder))
        #expect(CoderIdentity(DecodingPlace.inProcess.coder(insteadOf: base)) == CoderIdentity(base))
        // Others, however many, do not take the place of one that is used: later loads join its running ones.
        for _ in 0..<40 { _ = DecodingPlace.isolated.coder(insteadOf: ImageCodersManager()) }
        #expect(CoderIdentity(coder) == CoderIdentity(DecodingPlace.isolated(isolation).coder(insteadOf: base)))
        withExtendedLifetime(coder) {}
    }

    @Test func `Coders that no load uses are released, but for the latest`() {
        let base = ImageCodersManager()
        func coder(_ domain: String) -> IsolatedImageCoder? {
            let isolation = IsolationHarness.isolation { $0.domain = domain }
            return DecodingPlace.isolated(isolation).coder(insteadOf: base) as? IsolatedImageCoder
        }
        weak let first = coder("unused")
        #expect(first != nil)
        for number in 0..<100 { _ = coder("unused \(number)") }
        #expect(first == nil)
    }
}

/// Compares images of two processes.
enum IsolationComparison {
    static func areEqual(_ left: Image, _ right: Image) -> Bool {
        guard left.metadata == right.metadata, left.scale == right.scale, left.orientation == right.orientation,
            left.decodeOptions == right.decodeOptions, left.memoryCost == right.memoryCost,
            left.bitmap.pixelFormat == right.bitmap.pixelFormat, left.pixelWidth == right.pixelWidth,
            left.pixelHeight == right.pixelHeight, left.animation?.frameCount == right.animation?.frameCount
        else { return false }
        let row = left.pixelWidth * left.bitmap.pixelFormat.bytesPerPixel
        return left.bitmap.withUnsafeBytes { leftBytes in
            right.bitmap.withUnsafeBytes { rightBytes in
                (0..<left.pixelHeight).allSatisfy { y in
                    let (leftRow, rightRow) = (y * left.bitmap.bytesPerRow, y * right.bitmap.bytesPerRow)
                    return leftBytes[leftRow..<leftRow + row].elementsEqual(rightBytes[rightRow..<rightRow + row])
                }
            }
        }
    }
}
