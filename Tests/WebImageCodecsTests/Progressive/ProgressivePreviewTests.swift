import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImageCodecs

@Suite(.tags(.addressSanitizer)) struct ProgressivePreviewTests {
    /// The previews of a file after each step of bytes, without the end.
    private func previews(
        _ name: String,
        every step: Int,
        options: ImageDecodeOptions = .init(),
        pixels: Int = .max
    ) throws -> [Image] {
        let data = try Fixtures.data(name)
        let decoder = ProgressiveFixtures.coder(name).makeProgressiveDecoder(options: options)
        var previews: [Image] = []
        for count in stride(from: step, to: data.count, by: step) {
            try decoder.update(Data([UInt8](data.prefix(count))), isFinished: false)
            if let image = try decoder.image(maximumPreviewPixelCount: pixels) { previews.append(image) }
        }
        return previews
    }

    /// The finished image in the layout of previews.
    private func final(_ name: String, options: ImageDecodeOptions = .init()) throws -> Image {
        var options = options
        options.pixelFormat = .bgra8Premultiplied
        return try ProgressiveFixtures.coder(name).decode(try Fixtures.data(name), options: options)
    }

    @Test(arguments: [
        "JPEG/photo.jpg", "JPEG/icc-wide.jpg", "Options/photo-cmyk.jpg", "PNG/photo-rgb.png", "PNG/icc-wide.png",
        "PNG/photo-gray16.png", "WebP/lossy.webp", "GIF/table-full.gif",
    ])
    func `Received rows are those of the image, and transparent below`(name: String) throws {
        let final = try final(name)
        let previews = try previews(name, every: name.hasPrefix("WebP") ? 50 : 300)
        #expect(previews.count > 1)
        var former = 0
        for preview in previews {
            #expect((preview.pixelWidth, preview.pixelHeight) == (final.pixelWidth, final.pixelHeight))
            var expected = final.metadata
            expected.isIncremental = true
            #expect(preview.metadata == expected)
            let count = preview.opaqueRowCount
            #expect(count >= former)
            #expect((0..<count).allSatisfy { preview.hasSameRow($0, as: final) })
            #expect((count..<preview.pixelHeight).allSatisfy { preview.hasRow($0, ofAlpha: 0) })
            former = count
        }
        let first = try #require(previews.first)
        #expect(first.opaqueRowCount < former)
        #expect(former > final.pixelHeight / 2)
    }

    @Test(arguments: ["PNG/photo-rgba.png", "WebP/lossy-alpha.webp"])
    func `Received rows are those of the image also with alpha`(name: String) throws {
        let final = try final(name)
        let previews = try previews(name, every: 200)
        #expect(!previews.isEmpty)
        for preview in previews {
            let shown = (0..<final.pixelHeight).filter { !preview.hasRow($0, ofAlpha: 0) }
            // The alpha of a WebP's last row may not have arrived yet.
            let sure = name.hasPrefix("PNG") ? shown : shown.dropLast()
            #expect(sure.allSatisfy { preview.hasSameRow($0, as: final) })
        }
    }

    @Test(arguments: ["JPEG/orientation-3.jpg", "JPEG/orientation-6.jpg", "PNG/orientation-6.png"])
    func `Previews are upright`(name: String) throws {
        let final = try final(name)
        let preview = try #require(try previews(name, every: 20).last)
        #expect((preview.pixelWidth, preview.pixelHeight) == (final.pixelWidth, final.pixelHeight))
        var same = 0
        for row in 0..<final.pixelHeight {
            let found = preview.bitmap.mutableRow(row).assumingMemoryBound(to: UInt8.self)
            let wanted = final.bitmap.mutableRow(row).assumingMemoryBound(to: UInt8.self)
            for column in 0..<final.pixelWidth where found[4 * column + 3] != 0 {
                #expect((0..<4).allSatisfy { found[4 * column + $0] == wanted[4 * column + $0] })
                same += 1
            }
        }
        #expect(same > 0)
    }

    /// The mean difference of all samples.
    private func difference(_ image: Image, _ other: Image) -> Double {
        var sum = 0
        for row in 0..<image.pixelHeight {
            let first = image.bitmap.mutableRow(row).assumingMemoryBound(to: UInt8.self)
            let second = other.bitmap.mutableRow(row).assumingMemoryBound(to: UInt8.self)
            for index in 0..<image.pixelWidth * 4 { sum += abs(Int(first[index]) - Int(second[index])) }
        }
        return Double(sum) / Double(image.pixelWidth * image.pixelHeight * 4)
    }

    @Test(arguments: ["Options/photo-progressive.jpg", "JPEG/many-scans.jpg", "PNG/photo-interlaced.png"])
    func `An image in passes has an early preview of the whole that improves`(name: String) throws {
        let final = try final(name)
        let whole = try previews(name, every: 100).filter { $0.opaqueRowCount == final.pixelHeight }
        #expect(whole.count > 3)
        let first = difference(try #require(whole.first), final)
        let last = difference(try #require(whole.last), final)
        #expect(last < first)
        #expect(first < 30)
        #expect(last < 4)
    }

    @Test(arguments: [
        ("JPEG/photo.jpg", 2000), ("JPEG/photo.jpg", 333), ("Options/photo-progressive.jpg", 500),
        ("PNG/photo-rgb.png", 500),
        ("PNG/photo-rgba.png", 700), ("Options/photo-gray.jpg", 400), ("Options/photo-cmyk.jpg", 400),
        ("WebP/lossy.webp", 200),
        ("GIF/photo.gif", 300),
    ])
    func `Big images have previews a whole number of times smaller`(name: String, pixels: Int) throws {
        let full = try final(name)
        let preview = try #require(try previews(name, every: 50, pixels: pixels).last)
        let (width, height) = (preview.pixelWidth, preview.pixelHeight)
        #expect(width * height <= pixels)
        let factor = (full.pixelWidth + width - 1) / width
        #expect(width == (full.pixelWidth + factor - 1) / factor)
        #expect(height == (full.pixelHeight + factor - 1) / factor)
        // No smaller than requested.
        let bigger = factor - 1
        #expect(((full.pixelWidth + bigger - 1) / bigger) * ((full.pixelHeight + bigger - 1) / bigger) > pixels)
        let reduced = try Resampler.resize(full.bitmap, width: width, height: height, quality: .fast)
        let seen = (0..<height).filter { preview.hasRow($0, ofAlpha: 255) }
        #expect(name.contains("rgba") || seen.count > height / 2)
        var sum = 0
        for row in seen {
            let found = preview.bitmap.mutableRow(row).assumingMemoryBound(to: UInt8.self)
            let wanted = reduced.mutableRow(row).assumingMemoryBound(to: UInt8.self)
            for index in 0..<width * 4 { sum += abs(Int(found[index]) - Int(wanted[index])) }
        }
        // Few pixels of each cell are sampled, and a shifted or misplaced one differs more.
        #expect(Double(sum) / Double(max(seen.count, 1) * width * 4) < 16)
    }

    @Test(arguments: ["JPEG/photo.jpg", "PNG/photo-rgb.png", "PNG/photo-gray16.png", "GIF/photo.gif"])
    func `Previews of thumbnails have the thumbnail's size and pixels`(name: String) throws {
        var options = ImageDecodeOptions()
        options.thumbnailPixelSize = ImageSize(width: 30, height: 30)
        let final = try final(name, options: options)
        let preview = try #require(try previews(name, every: 200, options: options).last)
        #expect((preview.pixelWidth, preview.pixelHeight) == (final.pixelWidth, final.pixelHeight))
        #expect(preview.metadata.isThumbnail)
        #expect(preview.metadata.isIncremental)
        let count = preview.opaqueRowCount
        #expect(count > 3)
        var sum = 0
        // The last rows are mixed with missing ones.
        for row in 0..<count - 3 {
            let found = preview.bitmap.mutableRow(row).assumingMemoryBound(to: UInt8.self)
            let wanted = final.bitmap.mutableRow(row).assumingMemoryBound(to: UInt8.self)
            for index in 0..<final.pixelWidth * 4 { sum += abs(Int(found[index]) - Int(wanted[index])) }
        }
        #expect(Double(sum) / Double(max(count - 3, 1) * final.pixelWidth * 4) < 5)
    }

    @Test func `Rows of an interlaced GIF appear in their places`() throws {
        let final = try final("GIF/photo-interlaced.gif")
        let previews = try previews("GIF/photo-interlaced.gif", every: 500)
        let first = try #require(previews.first)
        let seen = (0..<first.pixelHeight).filter { first.hasRow($0, ofAlpha: 255) }
        #expect(!seen.isEmpty && seen.allSatisfy { $0 % 8 == 0 })
        var former = 0
        for preview in previews {
            let seen = (0..<preview.pixelHeight).filter { preview.hasRow($0, ofAlpha: 255) }
            #expect(seen.allSatisfy { preview.hasSameRow($0, as: final) })
            #expect(seen.count >= former)
            former = seen.count
        }
    }

    @Test func `A GIF's preview is animated with the frames that have arrived`() throws {
        let name = "GIF/animated.gif"
        let data = try Fixtures.data(name)
        let whole = try GIFCoder().animation(of: data, options: .init())
        let previews = try previews(name, every: 300)
        var counts: [Int] = []
        for preview in previews {
            #expect(preview.metadata.isIncremental)
            guard let animation = preview.animation else { continue }
            counts.append(animation.frameCount)
            #expect(animation.frameCount == preview.metadata.frameCount)
            for index in 0..<animation.frameCount {
                #expect(animation.duration(at: index) == whole.duration(at: index))
                let frame = try animation.frame(at: index)
                #expect((frame.pixelWidth, frame.pixelHeight) == (preview.pixelWidth, preview.pixelHeight))
            }
        }
        #expect(counts == counts.sorted())
        #expect(counts.first == 2)
        #expect(try #require(counts.last) < whole.frameCount || whole.frameCount == 2)
        var options = ImageDecodeOptions()
        options.decodeFirstFrameOnly = true
        #expect(try self.previews(name, every: 300, options: options).allSatisfy { $0.animation == nil })
    }

    @Test func `A small preview of an animation has small frames`() throws {
        let previews = try previews("GIF/animated.gif", every: 500, pixels: 100)
        let preview = try #require(previews.last { $0.animation != nil })
        #expect(preview.pixelWidth * preview.pixelHeight <= 100)
        let frame = try #require(try preview.animation?.frame(at: 1))
        #expect((frame.pixelWidth, frame.pixelHeight) == (preview.pixelWidth, preview.pixelHeight))
    }

    @Test(arguments: [
        "WebP/animated.webp", "WebP/animated-offset.webp", "Animation/webp-lossy-1.webp",
        "Animation/webp-lossy-alpha-3.webp", "PNG/animated.png", "PNG/animated-default-image.png",
    ])
    func `Previews of animations show the first frame`(name: String) throws {
        let final = try final(name)
        let previews = try previews(name, every: 100)
        let preview = try #require(previews.last)
        #expect((preview.pixelWidth, preview.pixelHeight) == (final.pixelWidth, final.pixelHeight))
        #expect(difference(preview, final) < 1)
        #expect(previews.allSatisfy { $0.metadata.isIncremental })
    }

    @Test func `An image that must be whole has no preview`() throws {
        #expect(try previews("JPEG/arithmetic.jpg", every: 200).isEmpty)
        var options = ImageDecodeOptions()
        options.decodeFirstFrameOnly = true
        #expect(try previews("PNG/animated-default-image.png", every: 200, options: options).isEmpty)
    }
}
