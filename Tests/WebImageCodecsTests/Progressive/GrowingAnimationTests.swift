import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageCodecs

/// Animations that move while they are received. The expected pixels are those that other programs decode; see ``AnimationDecodingTests``.
@Suite(.tags(.addressSanitizer)) struct GrowingAnimationTests {
    private static let names = ["gif", "webp", "png"].flatMap { format in
        Fixtures.names(in: "Animation", ending: format).map { "Animation/\($0).\(format)" }
    }
    /// One of each format, and a PNG whose default image is not a frame.
    private static let few = [
        "Animation/pillow.gif", "Animation/apng-rgba-1.png", "Animation/apng-hidden-default.png",
        "Animation/webp-lossy-alpha-3.webp", "Animation/webp-1.webp",
    ]
    private let manager = ImageCodersManager()

    /// A preview, and the frames of its animation.
    private struct Preview {
        var image: Image
        var frameCount: Int { image.animation?.frameCount ?? 1 }
        func frame(at index: Int) throws -> Image { try image.animation?.frame(at: index) ?? image }
    }

    /// Passes each preview of a file that arrives in pieces.
    private func receive(
        _ data: Data,
        in pieceCount: Int,
        _ change: (inout ImageDecodeOptions) -> Void = { _ in },
        maximumPixelCount: Int = .max,
        _ body: (Preview) throws -> Void
    ) throws {
        var options = ImageDecodeOptions()
        change(&options)
        let decoder = manager.makeProgressiveDecoder(options: options)
        for piece in 1..<pieceCount {
            // In other memory each time, without bytes behind the end.
            let bytes = Data([UInt8](data.prefix(data.count * piece / pieceCount)))
            try decoder.update(bytes, isFinished: false)
            guard let image = try decoder.image(maximumPreviewPixelCount: maximumPixelCount) else { continue }
            #expect(image.metadata.isIncremental)
            try body(Preview(image: image))
        }
        try decoder.update(data, isFinished: true)
        let image = try #require(try decoder.image(maximumPreviewPixelCount: maximumPixelCount))
        #expect(image.isSame(as: try manager.decode(data, options: options)))
    }

    @Test(arguments: names)
    func `In 200 pieces an animation grows, and each frame equals another program's`(name: String) throws {
        let data = try Fixtures.data(name)
        let whole = try manager.animation(of: data, options: .init())
        let expected = try Fixtures.frames(name, count: whole.frameCount)
        // The pixels of overlapping frames are rounded in different places.
        let isExact = !name.contains("soft") && !name.contains("lossy")
        var counts: [Int] = []
        try receive(data, in: 200) { preview in
            guard preview.frameCount > 1, preview.frameCount != counts.last else { return }
            counts.append(preview.frameCount)
            #expect(preview.image.metadata.frameCount == preview.frameCount)
            #expect(PixelDifference(preview.image.bitmap, expected[0]).maximum <= (isExact ? 0 : 2))
            for index in 0..<preview.frameCount {
                let difference = PixelDifference(try preview.frame(at: index).bitmap, expected[index])
                #expect(difference.maximum <= (isExact ? 0 : 2), "frame \(index) of \(preview.frameCount)")
                #expect(preview.image.animation?.duration(at: index) == whole.duration(at: index))
            }
        }
        #expect(counts == counts.sorted() && Set(counts).count == counts.count)
        // The last frame of a small file comes with the last pieces.
        #expect((counts.last ?? 1) >= whole.frameCount - 1)
    }

    @Test(arguments: few)
    func `Byte by byte no frame is missed, and none comes before it is complete`(name: String) throws {
        let data = try Fixtures.data(name)
        let whole = try manager.animation(of: data, options: .init())
        var counts = [0]
        try receive(data, in: data.count) { preview in
            if preview.frameCount != counts.last { counts.append(preview.frameCount) }
        }
        #expect(counts == Array(0...counts.count - 1) && counts.count >= whole.frameCount)
    }

    @Test(arguments: few)
    func `A truncated file shows the frames before its end`(name: String) throws {
        let data = try Fixtures.data(name)
        let expected = try Fixtures.frames(name, count: try manager.animation(of: data, options: .init()).frameCount)
        for part in 1..<40 {
            let decoder = manager.makeProgressiveDecoder(options: .init())
            let bytes = data.prefix(data.count * part / 40)
            try decoder.update(bytes, isFinished: false)
            let preview = try decoder.image(maximumPreviewPixelCount: .max)
            if let preview, let animation = preview.animation {
                for index in 0..<animation.frameCount {
                    let difference = PixelDifference(try animation.frame(at: index).bitmap, expected[index])
                    #expect(difference.maximum <= 2)
                }
            }
        }
    }

    @Test(arguments: few)
    func `Damage ends the animation or its decode, and never the process`(name: String) throws {
        let data = try Fixtures.data(name)
        let coder = ProgressiveFixtures.coder(name)
        var random = SeededGenerator(seed: UInt64(data.count))
        for round in 0..<150 {
            var damaged = data
            for _ in 0...random.next() % 4 {
                damaged[Int(random.next() % UInt64(data.count))] = UInt8(truncatingIfNeeded: random.next())
            }
            var options = ImageDecodeOptions()
            options.limits.maximumPixelCount = 1_000_000
            if round % 3 == 0 { options.thumbnailPixelSize = ImageSize(width: 9, height: 9) }
            let whole = ProgressiveOutcome(whole: damaged, coder, options)
            let pieces = ProgressiveOutcome.pieces(of: data.count, &random)
            let outcome = ProgressiveOutcome(pieces: pieces, of: damaged, coder, options) {
                (decoder) throws(WebImageError) in
                let preview = try? decoder.image(maximumPreviewPixelCount: 1000)
                guard let animation = preview?.animation else { return }
                for index in 0..<animation.frameCount { _ = try? animation.frame(at: index) }
            }
            #expect(outcome.matches(whole), "round \(round)")
        }
    }

    @Test(arguments: few)
    func `Too many frames are an error as soon as they are found`(name: String) throws {
        let data = try Fixtures.data(name)
        var options = ImageDecodeOptions()
        options.limits.maximumFrameCount = 2
        let decoder = ProgressiveFixtures.coder(name).makeProgressiveDecoder(options: options)
        let error = #expect(throws: WebImageError.self) {
            for count in 1..<data.count { try decoder.update(data.prefix(count), isFinished: false) }
        }
        #expect(error?.limit?.name == "maximumFrameCount")
        options.decodeFirstFrameOnly = true
        try receive(data, in: 50, { $0 = options }) { #expect($0.frameCount == 1 && $0.image.animation == nil) }
    }

    @Test(arguments: few)
    func `Frames have the preview's size, also under a byte limit that all frames share`(name: String) throws {
        let data = try Fixtures.data(name)
        let properties = try manager.properties(of: data, limits: .init())
        let byteCount = properties.width * properties.height * 4
        var isAnimated = [false, false]
        for limit in [0, byteCount] {
            try receive(data, in: 60, { $0.scaleDownLimitBytes = limit }, maximumPixelCount: 500) { preview in
                let (width, height) = (preview.image.pixelWidth, preview.image.pixelHeight)
                #expect(width * height <= 500)
                #expect(limit == 0 || width * height * 4 * preview.image.metadata.frameCount <= limit)
                guard preview.frameCount > 1 else { return }
                isAnimated[limit == 0 ? 0 : 1] = true
                let frame = try preview.frame(at: preview.frameCount - 1)
                #expect((frame.pixelWidth, frame.pixelHeight) == (width, height))
            }
        }
        #expect(isAnimated == [true, true])
    }

    @Test(arguments: few)
    func `Without memory for a canvas no preview is animated, and none fails`(name: String) throws {
        let data = try Fixtures.data(name)
        let properties = try manager.properties(of: data, limits: .init())
        var options = ImageDecodeOptions()
        options.thumbnailPixelSize = ImageSize(width: 6, height: 6)
        options.limits.maximumDecodedByteCount = properties.width * properties.height * 4 - 1
        let decoder = manager.makeProgressiveDecoder(options: options)
        try? decoder.update(data.dropLast(20), isFinished: false)
        #expect(try decoder.image(maximumPreviewPixelCount: .max)?.animation == nil)
    }

    @Test(arguments: ["Animation/apng-rgba-1.png", "Animation/webp-1.webp"])
    func `Chunks are not read twice`(name: String) throws {
        let data = try Fixtures.data(name)
        let whole = try manager.properties(of: data, limits: .init())
        var frames = IncrementalWebPFrames(frameLimit: 100)
        var header: PNGHeader?
        var former = 33
        for count in Array(stride(from: 40, to: data.count, by: 40)) + [data.count] {
            var bytes = data.prefix(count)
            for index in 33..<max(former - 64, 33) { bytes[index] = UInt8(truncatingIfNeeded: index &* 73) }
            try bytes.withUnsafeBytes {
                if name.hasSuffix("png") {
                    var known = try header ?? PNGHeader(beginning: $0, limits: .init())
                    known.read($0, isWhole: count == data.count)
                    header = known
                    // A chunk is read when it is complete.
                    former = known.animation.frames.last?.chunks.lowerBound ?? 33
                } else {
                    frames.read($0, onCanvasOf: whole.width, by: whole.height)
                    former = frames.complete.last?.bytes.upperBound ?? 33
                }
            }
        }
        #expect((header?.animation.frames.map(\.duration) ?? frames.complete.map(\.duration)) == whole.frameDurations)
        #expect((header?.animation.playCount ?? frames.loopCount) == whole.loopCount)
    }

    @Test func `libwebp and the search for arriving frames find the same`() throws {
        for name in Fixtures.names(in: "Animation", ending: "webp").map({ "Animation/\($0).webp" }) + [
            "WebP/animated.webp", "WebP/animated-offset.webp",
        ] {
            let data = try Fixtures.data(name)
            let container = try WebPCoder.container(of: data, limits: .init(), wantsFrames: true)
            var frames = IncrementalWebPFrames(frameLimit: 1000)
            data.withUnsafeBytes { frames.read($0, onCanvasOf: container.width, by: container.height) }
            #expect(frames.complete == container.frames && frames.loopCount == container.loopCount, "\(name)")
        }
    }
}
