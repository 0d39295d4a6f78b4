import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageJPEGXL

/// Output is read back by our decoder, which is tested against djxl.
@Suite(.tags(.addressSanitizer)) struct JPEGXLAnimationEncodingTests {
    private let files = FormatFixture(coder: JPEGXLCoder(), folder: "JPEGXL", ending: "jxl")

    @Test(arguments: ["webp/webp-0", "gif/random-0", "webp/webp-soft-4"])
    func `Every lossless frame is read back, with its duration and the loop count`(name: String) throws {
        try files.checkAnimationRoundTrip(name)
    }

    @Test func `Options of animated JPEG XL`() throws { try files.checkAnimationEncoding(.jpegXL, lossy: 6) }

    @Test func `Frames of JPEG XL with few changes are small`() throws {
        var options = ImageEncodeOptions()
        options.isLossless = true
        let noise = try Bitmap.make(64, 64) { x, y in
            [UInt8(truncatingIfNeeded: (x &* 7919 &+ y &* 104_729) >> 3), 0, 0, 255]
        }
        let dotted = try Bitmap.make(64, 64) { x, y in
            x == 5 && y == 6
                ? [9, 9, 9, 255] : [UInt8(truncatingIfNeeded: (x &* 7919 &+ y &* 104_729) >> 3), 0, 0, 255]
        }
        let frames = (0..<10).map { ImageFrame(image: Image(bitmap: $0 % 2 == 0 ? noise : dotted), duration: 0.1) }
        let one = try JPEGXLCoder().encode(Image(bitmap: noise), to: .jpegXL, options: options)
        let all = try JPEGXLCoder().encode(
            try #require(ImageFrameSequence(frames: frames)),
            to: .jpegXL,
            options: options
        )
        #expect(all.count < one.count + 10 * 100, "\(all.count) beside \(one.count)")
    }
}
