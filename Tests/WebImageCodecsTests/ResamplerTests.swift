import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageCodecs

@Suite(.tags(.threadSanitizer, .addressSanitizer)) struct ResamplerTests {
    /// A bitmap of expected pixels, premultiplied where they have alpha.
    private func bitmap(_ pixels: PortableAnymap) throws -> Bitmap {
        let format: PixelFormat = pixels.channels == 4 ? .bgra8Premultiplied : .rgb8
        let bitmap = try Bitmap.allocate(width: pixels.width, height: pixels.height, pixelFormat: format)
        for y in 0..<pixels.height {
            let row = bitmap.mutableRow(y).assumingMemoryBound(to: UInt8.self)
            for x in 0..<pixels.width {
                let rgba = pixels.rgba(x: x, y: y)
                if format == .rgb8 {
                    for channel in 0..<3 { row[3 * x + channel] = rgba[channel] }
                } else {
                    let alpha = Int(rgba[3])
                    for (position, channel) in [2, 1, 0].enumerated() {
                        let product: Int = Int(rgba[channel]) * alpha
                        row[4 * x + position] = UInt8((product * 2 + 255) / 510)
                    }
                    row[4 * x + 3] = rgba[3]
                }
            }
        }
        return bitmap
    }

    @Test(arguments: [(40, 30), (119, 89), (7, 90), (120, 11), (1, 1), (150, 140), (200, 20)])
    func `Lanczos equals Pillow's in floating point, but for one pixel in thirty that is rounded the other way`(
        _ width: Int,
        _ height: Int
    ) throws {
        let source = try bitmap(Fixtures.pixels("Resample/source.ppm"))
        let result = try Resampler.resize(source, width: width, height: height)
        let difference = PixelDifference(result, try Fixtures.pixels("Resample/lanczos-\(width)x\(height).ppm"))
        let ok = difference.maximum <= 1 && difference.mean <= 0.03
        #expect(ok, "\(difference)")
    }

    @Test(arguments: [(40, 30), (77, 31), (1, 1)])
    func `The fast filter is the area average`(_ width: Int, _ height: Int) throws {
        let source = try bitmap(Fixtures.pixels("Resample/source.ppm"))
        let result = try Resampler.resize(source, width: width, height: height, quality: .fast)
        let difference = PixelDifference(result, try Fixtures.pixels("Resample/area-\(width)x\(height).ppm"))
        let ok = difference.maximum <= 1 && difference.mean <= 0.01
        #expect(ok, "\(difference)")
    }

    /// Sizes within a factor of two are made in bytes with weights of eight bits; others in floating point.
    @Test(arguments: [(77, 60), (60, 45), (119, 89), (63, 88)])
    func `The fast filter in bytes is the area average, within two levels`(_ width: Int, _ height: Int) throws {
        let source = try bitmap(Fixtures.pixels("Resample/source.ppm"))
        let resampler = Resampler(
            from: (120, 90),
            to: (width, height),
            channels: 3,
            isPremultiplied: false,
            quality: .fast
        )
        #expect(resampler.isNarrowArea)
        let result = try Resampler.resize(source, width: width, height: height, quality: .fast)
        let difference = PixelDifference(result, try Fixtures.pixels("Resample/area-\(width)x\(height).ppm"))
        let ok = difference.maximum <= 2 && difference.mean <= 0.5
        #expect(ok, "\(difference)")
    }

    @Test func `The fast filter in bytes keeps colours at or below their alpha`() throws {
        let source = try bitmap(Fixtures.pixels("Resample/alpha.pam"))
        let result = try Resampler.resize(source, width: 77, height: 60, quality: .fast)
        let difference = PixelDifference(result, try Fixtures.pixels("Resample/alpha-area-77x60.pam"))
        let ok = difference.maximum <= 3 && difference.mean <= 0.5
        #expect(ok, "\(difference)")
        for y in 0..<60 {
            for x in 0..<77 {
                let pixel = result.premultipliedRGBA(x: x, y: y)
                #expect(pixel.allSatisfy { $0 <= pixel[3] })
            }
        }
    }

    @Test func `Grey images and wide filters are not made in bytes`() {
        func isNarrow(_ from: (Int, Int), _ to: (Int, Int), channels: Int, _ quality: ImageDecodeOptions.ScalingQuality)
            -> Bool
        {
            Resampler(from: from, to: to, channels: channels, isPremultiplied: false, quality: quality).isNarrowArea
        }
        #expect(isNarrow((100, 100), (50, 50), channels: 4, .fast))
        #expect(!isNarrow((100, 100), (50, 50), channels: 1, .fast))
        #expect(!isNarrow((100, 100), (50, 50), channels: 3, .high))
        #expect(!isNarrow((1000, 100), (50, 50), channels: 3, .fast))
        #expect(!isNarrow((100, 1000), (50, 50), channels: 3, .fast))
    }

    @Test(arguments: [(640, 479), (479, 320), (1000, 500), (7, 5), (3, 2), (2, 1), (1, 1), (65_535, 40_000)])
    func `Weights of eight bits add up to 256 and match the exact weights`(_ from: Int, _ to: Int) throws {
        let filter = ResampleFilter(from: from, to: to, quality: .fast)
        let shares = try #require(filter.shares)
        #expect(shares.count == 4 * to)
        for output in 0..<to {
            let four = shares[4 * output..<4 * output + 4]
            #expect(four.reduce(0, { $0 + Int($1) }) == 256)
            for (share, weight) in zip(four, filter.weights[4 * output..<4 * output + 4]) {
                #expect(abs(Float(share) - weight * 256) <= 2)
            }
        }
    }

    @Test func `Transparent pixels do not bleed into their neighbours`() throws {
        let source = try bitmap(Fixtures.pixels("Resample/alpha.pam"))
        let result = try Resampler.resize(source, width: 40, height: 30)
        let difference = PixelDifference(result, try Fixtures.pixels("Resample/alpha-40x30.pam"))
        // Pillow rounds to bytes between its passes.
        let ok = difference.psnr > 50 && difference.mean <= 0.25
        #expect(ok, "\(difference)")
        for y in 0..<30 {
            for x in 0..<40 {
                let pixel = result.premultipliedRGBA(x: x, y: y)
                #expect(pixel.allSatisfy { $0 <= pixel[3] })
            }
        }
    }

    @Test func `A plain colour is unchanged at every size`() throws {
        for format in [PixelFormat.rgb8, .bgra8Premultiplied] {
            let source = try Bitmap.allocate(width: 33, height: 21, pixelFormat: format)
            for y in 0..<21 {
                source.mutableRow(y).initializeMemory(as: UInt8.self, repeating: 77, count: source.bytesPerRow)
            }
            for (width, height) in [(1, 1), (2, 40), (32, 20), (100, 3), (33, 1), (1, 500)] {
                for quality in [ImageDecodeOptions.ScalingQuality.high, .fast] {
                    let result = try Resampler.resize(source, width: width, height: height, quality: quality)
                    result.withUnsafeBytes { bytes in
                        for y in 0..<height {
                            let row = bytes[
                                y * result.bytesPerRow..<y * result.bytesPerRow + width * format.bytesPerPixel
                            ]
                            #expect(row.allSatisfy { $0 == 77 })
                        }
                    }
                }
            }
        }
    }

    @Test func `The same size is the same bitmap`() throws {
        let source = try Bitmap.allocate(width: 3, height: 2, pixelFormat: .rgb8)
        #expect(try Resampler.resize(source, width: 3, height: 2).storage === source.storage)
    }

    @Test(arguments: [(1, 1), (1, 9), (9, 1), (65_535, 1), (1, 65_535), (640, 479), (479, 640), (1000, 7)])
    func `Weights add up to one and stay inside the line`(_ from: Int, _ to: Int) {
        for quality in [ImageDecodeOptions.ScalingQuality.high, .fast] {
            let filter = ResampleFilter(from: from, to: to, quality: quality)
            for output in 0..<min(to, 2000) {
                let low = Int(filter.first[output])
                let high = Int(filter.end[output])
                #expect(low >= 0 && low < high && high <= from && high - low <= filter.taps)
                let weights = filter.weights[output * filter.taps..<(output + 1) * filter.taps]
                let sum: Float = weights.reduce(0, +)
                #expect(abs(sum - 1) < 1e-4)
                #expect(weights.dropFirst(high - low).allSatisfy { $0 == 0 })
                if output > 0 { #expect(low >= Int(filter.first[output - 1]) && high >= Int(filter.end[output - 1])) }
            }
        }
    }

    @Test func `A resize reads each row once, a few at a time, and needs a window of them`() throws {
        let resampler = Resampler(
            from: (100, 5000),
            to: (10, 50),
            channels: 3,
            isPremultiplied: false,
            quality: .high
        )
        var rowsRead = 0
        var rowsOut = 0
        var mostAhead = 0
        try resampler.run { (count, base, bytesPerRow) throws(WebImageError) in
            #expect(count <= Resampler.blockRows)
            for row in 0..<count { (base + row * bytesPerRow).update(repeating: 9, count: 300) }
            rowsRead += count
        } emit: { (row) throws(WebImageError) in
            #expect(row[0] == 9 && row[29] == 9)
            rowsOut += 1
            mostAhead = max(mostAhead, rowsRead - rowsOut * 100)
        }
        #expect(rowsRead == 5000 && rowsOut == 50)
        // Lanczos looks three rows of the result ahead, and eight rows are finished together.
        #expect(mostAhead <= (3 + 8) * 100 + Resampler.blockRows)
    }

    @Test func `Images resized by several threads at once are the same`() async throws {
        let source = try bitmap(Fixtures.pixels("Resample/source.ppm"))
        let expected = try Fixtures.pixels("Resample/lanczos-40x30.ppm")
        let queue = WorkQueue(name: "resize", width: 4)
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    let result = try await queue.run { () throws(WebImageError) in
                        try Resampler.resize(source, width: 40, height: 30)
                    }
                    return PixelDifference(result, expected).maximum
                }
            }
            for try await maximum in group { #expect(maximum <= 1) }
        }
    }

    @Test func `A source's error ends the resize`() {
        let resampler = Resampler(from: (10, 100), to: (5, 50), channels: 4, isPremultiplied: true, quality: .fast)
        #expect(throws: WebImageError(.badImageData, "")) {
            try resampler.run { (_, _, _) throws(WebImageError) in
                throw WebImageError(.badImageData, "no more")
            } emit: { (_) throws(WebImageError) in
            }
        }
    }

    /// Bands of uneven heights, for filters that reduce, enlarge, and work in bytes.
    @Test(arguments: [ImageDecodeOptions.ScalingQuality.high, .fast], [(40, 30), (7, 88), (77, 60), (200, 120)])
    func `Bands have the pixels of the whole`(quality: ImageDecodeOptions.ScalingQuality, size: (Int, Int)) throws {
        let source = try bitmap(Fixtures.pixels("Resample/source.ppm"))
        let bounds = [0, 1, 17, size.1 - 2, size.1]
        func rows(_ bands: [Range<Int>]) throws -> [[UInt8]] {
            let resampler = Resampler(
                from: (source.width, source.height),
                to: size,
                channels: 3,
                isPremultiplied: false,
                quality: quality
            )
            var result: [[UInt8]] = []
            for band in bands {
                var input = resampler.firstRow(of: band)
                try resampler.run(band: band) { (count, base, bytesPerRow) throws(WebImageError) in
                    for row in 0..<count {
                        let bytes = source.mutableRow(input + row).assumingMemoryBound(to: UInt8.self)
                        (base + row * bytesPerRow).update(from: bytes, count: source.width * 3)
                    }
                    input += count
                } emit: { (row) throws(WebImageError) in
                    result.append(Array(UnsafeBufferPointer(start: row, count: size.0 * 3)))
                }
            }
            return result
        }
        let whole = try rows([0..<size.1])
        #expect(whole.count == size.1)
        #expect(try rows(zip(bounds, bounds.dropFirst()).map { $0..<$1 }) == whole)
    }

    /// Of widths and strides that end in the middle of a vector, and of heights that leave a group of rows incomplete.
    @Test(
        arguments: [PixelFormat.rgb8, .bgra8Premultiplied],
        [(40, 30), (61, 43), (62, 41), (77, 60), (1, 1), (3, 2)]
    )
    func `Rows written to their place are those that are passed on`(format: PixelFormat, size: (Int, Int)) throws {
        let source = try bitmap(Fixtures.pixels("Resample/source.ppm")).converted(to: format)
        let channels = format.bytesPerPixel
        let resampler = Resampler(
            from: (source.width, source.height),
            to: size,
            channels: channels,
            isPremultiplied: format == .bgra8Premultiplied,
            quality: .fast
        )
        func run(_ place: Resampler.RowPlace?) throws -> [UInt8] {
            var (input, result) = (0, [UInt8]())
            try resampler.run(into: place) { (count, base, bytesPerRow) throws(WebImageError) in
                for row in 0..<count {
                    let bytes = source.mutableRow(input + row).assumingMemoryBound(to: UInt8.self)
                    (base + row * bytesPerRow).update(from: bytes, count: source.width * channels)
                }
                input += count
            } emit: { (row) throws(WebImageError) in
                result += UnsafeBufferPointer(start: row, count: size.0 * channels)
            }
            return result
        }
        let byteCount = size.0 * size.1 * channels
        var placed = [UInt8](repeating: 7, count: byteCount + 16)
        let passed = try run(nil)
        let rest = try placed.withUnsafeMutableBufferPointer { bytes in
            try run(bytes.baseAddress.map { Resampler.RowPlace(base: $0, bytesPerRow: size.0 * channels) })
        }
        #expect(rest == (resampler.isNarrowArea ? [] : passed))
        if resampler.isNarrowArea { #expect(placed == passed + Array(repeating: 7, count: 16)) }
    }

    @Test(
        .enabled(if: CodingQueue.processorCount > 1),
        arguments: [PixelFormat.rgb8, .bgra8Premultiplied, .rgbaHalfPremultiplied]
    )
    func `A large bitmap has the same pixels if idle threads resize bands of it`(format: PixelFormat) throws {
        let noise = noise(1024 * 600)
        let large = try Bitmap.make(1024, 600) { x, y in
            let grain = noise[y * 1024 + x]
            return [grain, grain &* 3, grain &* 5, UInt8(x % 256)]
        }.converted(to: format)
        for (width, height) in TestEffort.some(of: [(300, 200), (900, 580), (1200, 700), (300, 1), (90, 3)]) {
            let banded = try Resampler.resize(large, width: width, height: height)
            let whole = try CodingQueue.shared.withReservedPlaces(upTo: .max) { (_) throws(WebImageError) in
                try Resampler.resize(large, width: width, height: height)
            }
            #expect(banded.pixels == whole.pixels)
        }
    }
}
