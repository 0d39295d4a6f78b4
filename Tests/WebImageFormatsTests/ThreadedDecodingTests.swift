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
    enum Kind: CaseIterable {
        case avif, jpegXL, webP
        /// An image of one piece.
        case heic
        /// A grid, as cameras write it.
        case heicOfTiles
    }

    static let kinds = Kind.allCases.filter { $0 != .heic || ImageCodersManager.allInProcess().canEncode(to: .heic) }
    private let coder = ImageCodersManager.allInProcess()

    private static let files = Lock<[Kind: Data]>([:])

    /// Returns a file of waves with noise, which takes long to make.
    static func file(_ kind: Kind) throws -> Data {
        if let made = files.withLock({ $0[kind] }) { return made }
        let made = try makeFile(kind)
        files.withLock { $0[kind] = made }
        return made
    }

    private static func makeFile(_ kind: Kind) throws -> Data {
        let format: ImageFormat
        switch kind {
        case .avif: format = .avif
        case .jpegXL: format = .jpegXL
        case .webP: format = .webp
        case .heic: format = .heic
        case .heicOfTiles: return try Fixtures.data("CodedSizes/tiles-1024x768.heic")
        }
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

    @Test(arguments: kinds)
    func `The pixels do not depend on the number of threads`(kind: Kind) throws {
        let data = try Self.file(kind)
        var thumbnail = ImageDecodeOptions()
        thumbnail.thumbnailPixelSize = ImageSize(width: 300, height: 300)
        for options in [ImageDecodeOptions(), thumbnail] {
            let threaded = try coder.decode(data, options: options)
            let single = try CodingQueue.shared.withReservedPlaces(upTo: .max) { _ in
                try coder.decode(data, options: options)
            }
            #expect(threaded.bitmap.pixels == single.bitmap.pixels)
        }
    }

    @Test(.enabled(if: CodingQueue.processorCount > 1), arguments: kinds)
    func `Other threads do a part of the work`(kind: Kind) throws {
        let data = try Self.file(kind)
        let alone = try CodingQueue.shared.withReservedPlaces(upTo: .max) { _ in try ownTime(data) }
        // Other tests may use all processors now.
        for _ in 0..<400 where try ownTime(data) < alone * 9 / 10 { return }
        Issue.record("the thread that decodes did all the work")
    }

    /// Returns the processor time in nanoseconds that a decode takes on this thread.
    private func ownTime(_ data: Data) throws -> Int {
        let start = ThreadTime.nanoseconds
        _ = try coder.decode(data, options: ImageDecodeOptions())
        return ThreadTime.nanoseconds - start
    }

    @Test(arguments: kinds)
    func `A truncated file is an error, with threads as without`(kind: Kind) throws {
        let data = try Self.file(kind)
        for part in 1..<8 {
            let error = #expect(throws: WebImageError.self) {
                try coder.decode(data.prefix(data.count * part / 8), options: ImageDecodeOptions())
            }
            #expect(error?.code == .badImageData)
        }
    }
}
