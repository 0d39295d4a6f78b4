import ModelTestSupport
import TestSupport
import Testing
import WebImageCodecs

@Suite(.tags(.addressSanitizer)) struct DecodePlanTests {
    private func plan(
        _ width: Int,
        _ height: Int,
        _ orientation: ImageOrientation = .up,
        frames: Int = 1,
        change: (inout ImageDecodeOptions) -> Void = { _ in }
    ) throws -> DecodePlan {
        var properties = ImageProperties(format: .jpeg, width: width, height: height)
        properties.orientation = orientation
        properties.frameCount = frames
        var options = ImageDecodeOptions()
        change(&options)
        return try DecodePlan.make(for: properties, options: options)
    }

    private func fitted(
        _ width: Int,
        _ height: Int,
        _ box: ImageSize,
        _ orientation: ImageOrientation = .up
    ) throws -> [Int] {
        let plan = try plan(width, height, orientation) { $0.thumbnailPixelSize = box }
        return [plan.width, plan.height]
    }

    @Test func `Without a size an image keeps its own`() throws {
        let plan = try plan(640, 480, .right)
        #expect(plan == DecodePlan(width: 640, height: 480, orientation: .right, isThumbnail: false))
    }

    @Test func `An image is fitted into the box, with rounded sides`() throws {
        #expect(try fitted(5250, 3450, ImageSize(width: 400, height: 300)) == [400, 263])
        #expect(try fitted(3450, 5250, ImageSize(width: 400, height: 300)) == [197, 300])
        #expect(try fitted(1000, 10, ImageSize(width: 100, height: 100)) == [100, 1])
        #expect(try fitted(60_000, 1, ImageSize(width: 10, height: 10)) == [10, 1])
        #expect(try fitted(1000, 1000, ImageSize(width: 0.2, height: 0.2)) == [1, 1])
    }

    @Test(arguments: ImageOrientation.allCases)
    func `A covering thumbnail is the smallest with both sides at least the box's`(
        _ orientation: ImageOrientation
    ) throws {
        func covering(_ width: Int, _ height: Int, _ box: ImageSize) throws -> [Int] {
            let swaps = orientation.swapsSides
            let plan = try plan(swaps ? height : width, swaps ? width : height, orientation) {
                $0.thumbnailPixelSize = box
                $0.thumbnailCovers = true
            }
            #expect(plan.isThumbnail == (max(plan.width, plan.height) < max(width, height)))
            return swaps ? [plan.height, plan.width] : [plan.width, plan.height]
        }
        #expect(try covering(4000, 3000, ImageSize(width: 100, height: 100)) == [133, 100])
        #expect(try covering(3000, 4000, ImageSize(width: 100, height: 100)) == [100, 133])
        #expect(try covering(4000, 3000, ImageSize(width: 400, height: 100)) == [400, 300])
        #expect(try covering(3001, 1999, ImageSize(width: 99.5, height: 66.4)) == [100, 67])
        // Never bigger than the image.
        #expect(try covering(300, 50, ImageSize(width: 100, height: 100)) == [300, 50])
        #expect(try covering(60_000, 1, ImageSize(width: 10, height: 10)) == [60_000, 1])
        #expect(try covering(300, 200, ImageSize(width: 300, height: 200)) == [300, 200])
    }

    @Test func `A fractional box is not exceeded`() throws {
        #expect(try fitted(1000, 1000, ImageSize(width: 99.7, height: 99.7)) == [99, 99])
    }

    @Test func `An image that fits is never enlarged`() throws {
        #expect(try fitted(300, 200, ImageSize(width: 400, height: 300)) == [300, 200])
        let plan = try plan(300, 200) {
            $0.thumbnailPixelSize = ImageSize(width: 300, height: 200)
        }
        #expect(!plan.isThumbnail)
    }

    @Test(arguments: ImageOrientation.allCases)
    func `The box applies to the upright image`(_ orientation: ImageOrientation) throws {
        let size = try fitted(4000, 3000, ImageSize(width: 300, height: 400), orientation)
        #expect(size == (orientation.swapsSides ? [400, 300] : [300, 225]))
    }

    @Test func `Without the aspect ratio an image is stretched to the box, each side at most its own`() throws {
        func stretched(_ box: ImageSize, _ orientation: ImageOrientation = .up) throws -> [Int] {
            let plan = try plan(400, 300, orientation) {
                $0.thumbnailPixelSize = box
                $0.preserveAspectRatio = false
            }
            return [plan.width, plan.height]
        }
        #expect(try stretched(ImageSize(width: 50, height: 60)) == [50, 60])
        #expect(try stretched(ImageSize(width: 500, height: 60)) == [400, 60])
        #expect(try stretched(ImageSize(width: 50, height: 60), .left) == [60, 50])
    }

    @Test(arguments: [
        ImageSize(width: .nan, height: 10), ImageSize(width: .infinity, height: 10), ImageSize(width: 0, height: 10),
        ImageSize(width: -5, height: 10), ImageSize(width: 1e300, height: 1e300), ImageSize(width: 10, height: .nan),
    ])
    func `An invalid or absurd size means full size`(_ box: ImageSize) throws {
        for preserve in [true, false] {
            let plan = try plan(640, 480) {
                $0.thumbnailPixelSize = box
                $0.preserveAspectRatio = preserve
            }
            #expect(plan.width == 640 && plan.height == 480 && !plan.isThumbnail)
        }
    }

    @Test func `The tiniest positive box gives one pixel`() throws {
        #expect(try fitted(640, 480, ImageSize(width: 1e-300, height: 1e-300)) == [1, 1])
    }

    @Test func `A byte limit bounds the pixels, keeps the ratio, and does not make a thumbnail`() throws {
        let plan = try plan(4000, 3000) { $0.scaleDownLimitBytes = 4_000_000 }
        #expect([plan.width, plan.height] == [1154, 866])
        #expect(!plan.isThumbnail && plan.scaleDownLimitBytes == 4_000_000)
        #expect(plan.width * plan.height * 4 <= 4_000_000)
    }

    @Test func `Of a byte limit and a thumbnail size the smaller holds`() throws {
        let small = try plan(4000, 3000) {
            $0.scaleDownLimitBytes = 4_000_000
            $0.thumbnailPixelSize = ImageSize(width: 400, height: 400)
        }
        #expect([small.width, small.height] == [400, 300])
        #expect(small.isThumbnail && small.scaleDownLimitBytes == 0)
        let big = try plan(4000, 3000) {
            $0.scaleDownLimitBytes = 4_000_000
            $0.thumbnailPixelSize = ImageSize(width: 3000, height: 3000)
        }
        #expect([big.width, big.height] == [1154, 866])
        #expect(big.isThumbnail && big.scaleDownLimitBytes == 4_000_000)
    }

    @Test func `A byte limit is shared by the frames that will be decoded`() throws {
        let all = try plan(1000, 1000, frames: 10) { $0.scaleDownLimitBytes = 400_000 }
        #expect(all.width == 100 && all.height == 100)
        let first = try plan(1000, 1000, frames: 10) {
            $0.scaleDownLimitBytes = 400_000
            $0.decodeFirstFrameOnly = true
        }
        #expect(first.width == 316 && first.height == 316)
    }

    @Test func `A byte limit of zero leaves one pixel`() throws {
        for (width, height) in [(1000, 1000), (60_000, 1), (1, 60_000), (60_000, 2)] {
            let plan = try plan(width, height) { $0.scaleDownLimitBytes = 1 }
            #expect(plan.width == 1 && plan.height == 1)
        }
    }

    @Test func `Errors name the exceeded limit`() throws {
        func limit(
            _ width: Int,
            _ height: Int,
            frames: Int = 1,
            _ change: (inout ImageDecodeOptions) -> Void
        ) -> String? {
            do {
                _ = try plan(width, height, frames: frames, change: change)
                return nil
            } catch { return (error as? WebImageError)?.limit?.name }
        }
        #expect(limit(70_000, 1) { _ in } == "maximumSideLength")
        #expect(limit(30_000, 30_000) { _ in } == "maximumPixelCount")
        #expect(limit(10, 10, frames: 20_000) { _ in } == "maximumFrameCount")
        #expect(limit(100, 100) { $0.limits.maximumDecodedByteCount = 29_999 } == "maximumDecodedByteCount")
        #expect(
            limit(100, 100) {
                $0.limits.maximumDecodedByteCount = 30_000
                $0.pixelFormat = .bgra8Premultiplied
            } == "maximumDecodedByteCount"
        )
    }

    @Test func `Sides that would overflow are refused by any limits`() throws {
        var options = ImageDecodeOptions()
        options.limits.maximumPixelCount = .max
        options.limits.maximumSideLength = .max
        options.limits.maximumDecodedByteCount = .max
        let limits = options.limits
        #expect {
            try plan(0x7FFF_FFFF, 0x7FFF_FFFF) { $0.limits = limits }
        } throws: {
            ($0 as? WebImageError)?.limit?.name == "maximumSideLength"
        }
        // The same in a file, whose rows an interlaced image would need in one piece.
        var data = try Fixtures.data("PNG/type6-16bit-interlaced.png")
        data.replaceSubrange(16..<24, with: [0x7F, 0xFF, 0xFF, 0xFF, 0x7F, 0xFF, 0xFF, 0xFF])
        options.thumbnailPixelSize = ImageSize(width: 10, height: 10)
        let damaged = CRC32.repairingPNG(data)
        #expect {
            try PNGCoder().decode(damaged, options: options)
        } throws: {
            ($0 as? WebImageError)?.limit?.name == "maximumSideLength"
        }
    }

    @Test func `The limit on decoded bytes applies to the result`() throws {
        let plan = try plan(10_000, 10_000) {
            $0.limits.maximumDecodedByteCount = 30_000
            $0.thumbnailPixelSize = ImageSize(width: 100, height: 100)
        }
        #expect(plan.width == 100)
    }

    @Test func `An image without pixels is bad data`() {
        #expect(throws: WebImageError(.badImageData, "")) { try plan(0, 10) }
    }
}
