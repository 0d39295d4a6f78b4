import FoundationEssentials
import LoadingTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageLoading

extension ComplaintTests {
    @Test func `Complaint 6: frame durations are those of the file`() throws {
        var count = 0
        for (directory, ending) in [("GIF", "gif"), ("PNG", "png"), ("WebP", "webp")] {
            for name in Fixtures.names(in: directory, ending: ending) {
                let data = try Fixtures.data("\(directory)/\(name).\(ending)")
                guard let properties = try? ImageCodersManager.shared.properties(of: data, limits: ImageLimits()),
                    properties.frameCount > 1
                else { continue }
                count += 1
                // Invisible durations are shown as in browsers: those of 10 ms or less.
                let expected = FrameTimes.read(data).map { $0 < 0.011 ? 0.1 : $0 }
                #expect(properties.frameDurations == expected, "\(name).\(ending)")
                // One duration for each frame, and no frame repeated to make them equal.
                #expect(properties.frameCount == expected.count, "\(name).\(ending)")
                let image = try ImageCodersManager.shared.decode(data, options: ImageDecodeOptions())
                #expect(image.metadata.frameCount == expected.count)
                #expect(image.metadata.loopCount == properties.loopCount)
            }
        }
        #expect(count >= 12, "\(count)")
    }

    @Test(arguments: [
        "JPEG/baseline-420.jpg", "JPEG/progressive.jpg", "PNG/photo-rgb.png", "PNG/photo-interlaced.png",
        "GIF/photo.gif", "GIF/photo-interlaced.gif", "WebP/lossy.webp", "WebP/lossless.webp",
    ])
    func `Complaint 23: a truncated image is never delivered as whole`(name: String) async throws {
        let whole = try Fixtures.data(name)
        let expected = try ImageCodersManager.shared.decode(whole, options: ImageDecodeOptions())
        let length = Lock(0)
        let harness = ImageHarness { _ in .success(whole.prefix(length.withLock { $0 })) }
        let key = harness.url.absoluteString
        var failures = 0
        for part in 1..<40 {
            length.withLock { $0 = whole.count * part / 40 }
            // Twice at once, with previews: each gets the same single end.
            let outcomes = [WebImageOptions.progressiveLoad, [.progressiveLoad, .lowPriority]].map { options in
                let outcome = Outcome()
                harness.manager.loadImage(
                    with: harness.url,
                    options: options.union([.retryFailed, .waitStoreCache]),
                    context: harness.context()
                ) { outcome.record($0) }
                return outcome
            }
            for outcome in outcomes {
                switch await outcome.value() {
                case .failure(let error):
                    failures += 1
                    #expect(error.code == .badImageData || error.code == .unsupportedFormat, "\(error)")
                case .success(let result):
                    // Missing parts are not part of the image.
                    #expect(haveSamePixels(result.image, expected) && !result.image.metadata.isIncremental)
                    await harness.cache.clear(.all)
                }
            }
            await harness.cache.flush()
            #expect(outcomes.allSatisfy { $0.count == 1 })
            #expect(harness.cache.memoryImage(forKey: key) == nil && harness.cache.totalDiskCount == 0, "\(part)")
        }
        #expect(failures >= 70, "\(failures) of 78")
        length.withLock { $0 = whole.count }
        #expect(haveSamePixels(try await harness.load(options: [.progressiveLoad, .retryFailed]).image, expected))
    }

    @Test(arguments: ImageOrientation.allCases)
    func `Complaint 32: eight orientations, with and without thumbnail, are upright`(
        orientation: ImageOrientation
    ) throws {
        let coders = ImageCodersManager.shared
        for (format, pixels) in [("JPEG", "ppm"), ("PNG", "pam"), ("WebP", "pam")] {
            let name = "\(format)/orientation-\(orientation.rawValue)"
            let ending = format == "JPEG" ? "jpg" : format.lowercased()
            let data = try Fixtures.data("\(name).\(ending)")
            let expected = try Fixtures.pixels("\(name).\(pixels)")
            let (width, height) = (expected.width, expected.height)
            func decode(_ change: (inout ImageDecodeOptions) -> Void) throws -> Image {
                try coders.decode(data, options: .with(change))
            }
            let whole = try decode { _ in }
            #expect(whole.orientation == .up && whole.metadata.sourceOrientation == orientation)
            #expect(PixelDifference(whole.bitmap, expected).mean < 1)
            // Boxes that are wide, tall, and square, measured for the upright image.
            for (boxWidth, boxHeight) in [(30, 200), (200, 30), (25, 25), (31, 17), (17, 31)] {
                let box = ImageSize(width: boxWidth, height: boxHeight)
                let scale = min(box.width / Double(width), box.height / Double(height), 1)
                let fitted = try decode { $0.thumbnailPixelSize = box }
                let wanted = (Int((Double(width) * scale).rounded()), Int((Double(height) * scale).rounded()))
                #expect((fitted.pixelWidth, fitted.pixelHeight) == wanted, "\(name) in \(boxWidth) × \(boxHeight)")
                let stretched = try decode {
                    $0.thumbnailPixelSize = box
                    $0.preserveAspectRatio = false
                }
                #expect(
                    (stretched.pixelWidth, stretched.pixelHeight) == (min(boxWidth, width), min(boxHeight, height))
                )
                for small in [fitted, stretched] {
                    #expect(small.orientation == .up && small.metadata.sourceOrientation == orientation)
                    // The right orientation, not only the right shape.
                    let reduced = try Resampler.resize(whole.bitmap, width: small.pixelWidth, height: small.pixelHeight)
                    #expect(meanDifference(small.bitmap, reduced) < 6, "\(name) in \(boxWidth) × \(boxHeight)")
                }
            }
            let limited = try decode { $0.scaleDownLimitBytes = width * height }
            let ratio = Double(limited.pixelWidth) / Double(limited.pixelHeight) / (Double(width) / Double(height))
            #expect(abs(ratio - 1) < 0.1 && limited.pixelWidth < width)
        }
    }

    private func meanDifference(_ left: Bitmap, _ right: Bitmap) -> Double {
        var sum = 0
        for y in 0..<left.height {
            for x in 0..<left.width {
                let (one, other) = (left.premultipliedRGBA(x: x, y: y), right.premultipliedRGBA(x: x, y: y))
                sum += zip(one, other).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }
            }
        }
        return Double(sum) / Double(left.width * left.height * 4)
    }

    @Test(arguments: TestImages.still + ["JPEG/progressive.jpg", "PNG/photo-rgba.png", "WebP/lossless-alpha.webp"])
    func `Complaint 37: the byte limit works on each of the formats`(name: String) async throws {
        let harness = try ImageHarness(fixture: name)
        let whole = try await harness.load().image
        let bytes = whole.pixelWidth * whole.pixelHeight * 4
        for limit in [bytes * 3 / 4, bytes / 2, bytes / 10, bytes / 100] {
            await harness.cache.clear(.memory)
            let image = try await harness.load { $0.scaleDownLimitBytes = limit }.image
            let used = image.pixelWidth * image.pixelHeight * 4
            #expect(used <= limit && used > limit * 2 / 3, "\(used) of \(limit)")
            #expect(image.metadata.sourceWidth == whole.metadata.sourceWidth && !image.metadata.isThumbnail)
        }
        await harness.cache.clear(.memory)
        #expect(try await harness.load { $0.scaleDownLimitBytes = bytes }.image.pixelWidth == whole.pixelWidth)
        // The option sets a limit of 60 MiB, unless the context has another.
        let manager = harness.manager
        let options = manager.decodeOptions(for: "k", manager.resolve(nil, .scaleDownLargeImages, nil))
        #expect(options.scaleDownLimitBytes == 60 << 20)
        await harness.cache.clear(.memory)
        let both = try await harness.load(options: .scaleDownLargeImages) { $0.scaleDownLimitBytes = bytes / 2 }.image
        #expect(both.pixelWidth * both.pixelHeight * 4 <= bytes / 2)
    }
}
