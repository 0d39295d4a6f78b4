import FoundationEssentials
import WebImage

/// The content of an image of the model: its URL, version, size and transformers. Bytes and pixels both contain all of
/// it, so an image in the wrong place is detected everywhere.
struct ModelImage: Hashable, CustomStringConvertible {
    static let fullSize = (width: 4, height: 2)
    /// The size under a byte limit.
    static let limitedSize = (width: 2, height: 2)
    /// Maximum bytes of pixels for loads with a limit; a whole image has twice as many.
    static let byteLimit = 16
    static let thumbnailSizes = [(width: 2, height: 1), (width: 3, height: 2)]

    var url: Int
    var version: Int
    var width = ModelImage.fullSize.width
    var height = ModelImage.fullSize.height
    /// The applied transformers, as digits to the base of 3.
    var chain: UInt8 = 0

    var description: String { "\(url)v\(version) \(width)x\(height) chain \(chain)" }

    // MARK: Bytes

    private static let mark: UInt8 = 0xA7

    static func badData(_ url: Int) -> Data { Data([0, UInt8(url), 0, 0]) }

    var data: Data {
        var bytes: [UInt8] = [Self.mark, UInt8(url), UInt8(version), UInt8(width), UInt8(height), chain]
        bytes.append(contentsOf: repeatElement(0, count: 10 + url * 4))
        return Data(bytes)
    }

    init(url: Int, version: Int) {
        self.url = url
        self.version = version
    }

    /// Nil for bytes that are not an image.
    init?(_ data: Data) {
        let bytes = data.withUnsafeBytes { Array($0.prefix(6)) }
        guard bytes.count == 6, bytes[0] == Self.mark else { return nil }
        self.init(url: Int(bytes[1]), version: Int(bytes[2]))
        (width, height, chain) = (Int(bytes[3]), Int(bytes[4]), bytes[5])
    }

    // MARK: Pixels

    init(_ image: Image) {
        let bytes = image.bitmap.withUnsafeBytes { ($0[0], $0[1], $0[2]) }
        self.init(url: Int(bytes.0), version: Int(bytes.1))
        (width, height, chain) = (image.pixelWidth, image.pixelHeight, bytes.2)
    }

    func image(limit: Int = 0, options: ImageDecodeOptions? = nil) throws(WebImageError) -> Image {
        let bitmap = try Bitmap.allocate(width: width, height: height, pixelFormat: .rgb8)
        let row = bitmap.mutableRow(0)
        row.storeBytes(of: UInt8(url), as: UInt8.self)
        row.storeBytes(of: UInt8(version), toByteOffset: 1, as: UInt8.self)
        row.storeBytes(of: chain, toByteOffset: 2, as: UInt8.self)
        var metadata = ImageMetadata()
        metadata.format = .png
        (metadata.sourceWidth, metadata.sourceHeight) = Self.fullSize
        metadata.isThumbnail = options?.isThumbnail ?? false
        metadata.scaleDownLimitBytes = limit
        return Image(bitmap: bitmap, metadata: metadata, decodeOptions: options)
    }
}

/// Decodes and encodes images of the model.
final class ModelCoder: ImageCoder {
    private let pause: @Sendable () -> Void
    private let mutates: Bool
    private let count = Lock(0)

    /// - Parameters:
    ///   - pause: Called in the middle of the work.
    ///   - mutates: Indicates whether every 16th image gets another one's content.
    init(mutates: Bool = false, pause: @escaping @Sendable () -> Void = {}) {
        self.mutates = mutates
        self.pause = pause
    }

    func canDecode(_ data: Data) -> Bool { ModelImage(data) != nil }
    func canEncode(to format: ImageFormat) -> Bool { true }

    func properties(of data: Data, limits: ImageLimits) throws(WebImageError) -> ImageProperties {
        pause()
        guard let picture = ModelImage(data) else { throw WebImageError(.badImageData, "no image") }
        return ImageProperties(format: .png, width: picture.width, height: picture.height)
    }

    func decode(_ data: Data, options: ImageDecodeOptions) throws(WebImageError) -> Image {
        pause()
        guard var picture = ModelImage(data) else { throw WebImageError(.badImageData, "no image") }
        if mutates,
            count.withLock({
                $0 += 1; return $0 % 16 == 0
            })
        {
            picture.url ^= 1
        }
        if options.isThumbnail, let size = options.thumbnailPixelSize {
            picture.width = min(picture.width, Int(size.width))
            picture.height = min(picture.height, Int(size.height))
        }
        let limit = options.scaleDownLimitBytes
        guard limit > 0, picture.width * picture.height * 4 > limit else { return try picture.image(options: options) }
        (picture.width, picture.height) = ModelImage.limitedSize
        return try picture.image(limit: limit, options: options)
    }

    func encode(
        _ image: Image,
        to format: ImageFormat,
        options: ImageEncodeOptions
    ) throws(WebImageError) -> Data {
        pause()
        return ModelImage(image).data
    }
}

/// Marks the pixels with its digit.
struct ModelTransformer: ImageTransformer {
    let digit: UInt8
    let transformerKey: String
    let pause: @Sendable () -> Void

    /// - Parameter digit: 1 or 2.
    init(_ digit: UInt8, pause: @escaping @Sendable () -> Void = {}) {
        self.digit = digit
        self.pause = pause
        transformerKey = digit == 1 ? "One" : "Two"
    }

    func transform(_ image: Image) throws(WebImageError) -> Image {
        pause()
        var picture = ModelImage(image)
        picture.chain = picture.chain * 3 + digit
        return try picture.image()
    }
}
