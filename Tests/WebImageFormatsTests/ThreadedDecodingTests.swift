import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImage
import WebImageModel
import WebImageSupport

/// Large images, which their libraries decode with several threads while processors are idle.
@Suite(.tags(.addressSanitizer))
struct ThreadedDecodingTests {
    static let formats: [ImageFormat] = [.avif, .jpegXL, .webp]
    private let coder = ImageCodersManager.allInProcess()

    /// Returns a file of waves with noise.
    static func file(_ format: ImageFormat) throws -> Data {
        let (width, height) = (1024, 520)
        let noise = noise(width * height)
        let bitmap = try Bitmap.make(width, height) { x, y in
            let grain = noise[y * width + x] % 32
            return [UInt8(x / 8 % 224) + grain, UInt8((x + y) / 4 % 224) + grain, UInt8(y / 3 % 224) + grain, 255]
        }
        var options = ImageEncodeOptions()
        options.compressionQuality = 0.7
        return try ImageCodersManager.allInProcess().encode(Image(bitmap: bitmap), to: format, options: options)
    }

    @Test(arguments: formats)
    func `The pixels do not depend on the number of threads`(format: ImageFormat) throws {
        let data = try Self.file(format)
        var thumbnail = ImageDecodeOptions()
        thumbnail.thumbnailPixelSize = ImageSize(width: 300, height: 300)
        for options in [ImageDecodeOptions(), thumbnail] {
            let threaded = try coder.decode(data, options: options)
            let single = try CodingQueue.shared.withIdlePlaces(upTo: .max) { _ in
                try coder.decode(data, options: options)
            }
            #expect(threaded.bitmap.pixels == single.bitmap.pixels)
        }
    }

    @Test(arguments: formats)
    func `A truncated file is an error, with threads as without`(format: ImageFormat) throws {
        let data = try Self.file(format)
        for part in 1..<8 {
            let error = #expect(throws: WebImageError.self) {
                try coder.decode(data.prefix(data.count * part / 8), options: ImageDecodeOptions())
            }
            #expect(error?.code == .badImageData)
        }
    }
}
