import FoundationEssentials
import Glibc
import WebImage

/// Decodes texts that begin with "HAZARD ", to images of 4 x 4 pixels.
struct HazardCoder: AnimatedImageCoder, RegionServingCoder {
    private static let mark = "HAZARD "

    func canDecode(_ data: Data) -> Bool { data.starts(with: Data(Self.mark.utf8)) }

    func properties(of data: Data, limits: ImageLimits) throws(WebImageError) -> ImageProperties {
        if name(data) == "header" { Hazards.run("segfault") }
        if name(data) == "header announced" { Lies.tell("announced alone") }
        if name(data).hasPrefix("big") { return BigImages.properties }
        var properties = ImageProperties(format: .png, width: 4, height: 4)
        if name(data) == "frames" {
            properties.frameCount = 20_000
            properties.frameDurations = Array(repeating: 0.25, count: 20_000)
        }
        return properties
    }

    func decode(_ data: Data, options: ImageDecodeOptions) throws(WebImageError) -> Image {
        let name = name(data)
        if name == "refuse" { throw WebImageError(.badImageData, "no\u{1B}[31m picture\n") }
        if name == "strange code" { throw WebImageError(.cancelled, "never mind") }
        Hazards.run(name)
        Lies.tell(name)
        return try BigImages.decode(name) ?? Self.picture(0)
    }

    func memoryNeed(of data: Data, options: ImageDecodeOptions) throws(WebImageError) -> DecodeMemoryNeed {
        if name(data) == "needs nothing" { return DecodeMemoryNeed(outputByteCount: 0, workingByteCount: 0) }
        if name(data) == "greedy" { return DecodeMemoryNeed(outputByteCount: 4 << 20, workingByteCount: 4 << 20) }
        let properties = try properties(of: data, limits: options.limits)
        let output = properties.width * properties.height * 4
        return DecodeMemoryNeed(outputByteCount: output, workingByteCount: output)
    }

    func animation(
        of data: Data,
        options: ImageDecodeOptions
    ) throws(WebImageError) -> any AnimatedImageProvider { HazardAnimation(name(data)) }

    func regionCoder(for beginning: Data) -> (any ImageCoder)? { self }

    func regionServer(of input: RegionInput, _ setup: RegionSetup) throws(WebImageError) -> (any RegionServer)? {
        guard case .file(let file) = input.bytes, file.byteCount > 0 else { return nil }
        var bytes = [UInt8](repeating: 0, count: file.byteCount)
        let count = pread(file.descriptor, &bytes, bytes.count, 0)
        let name = name(Data(bytes.prefix(max(count, 0))))
        if name == "whole" { return nil }
        if name.hasPrefix("open ") { Hazards.run(String(name.dropFirst(5))) }
        return HazardRegions(name)
    }

    func canEncode(to format: ImageFormat) -> Bool { false }

    func encode(_ image: Image, to format: ImageFormat, options: ImageEncodeOptions) throws(WebImageError) -> Data {
        throw WebImageError(.unsupportedFormat, "hazards are not encoded")
    }

    private func name(_ data: Data) -> String { String(decoding: data.dropFirst(Self.mark.count), as: UTF8.self) }

    /// Pixels that count up from a number.
    static func picture(_ first: UInt8) -> Image {
        guard let bitmap = try? Bitmap.allocate(width: 4, height: 4, pixelFormat: .bgra8Premultiplied) else { exit(1) }
        for index in 0..<64 {
            bitmap.mutableRow(0).storeBytes(of: first &+ UInt8(index), toByteOffset: index, as: UInt8.self)
        }
        var metadata = ImageMetadata()
        (metadata.format, metadata.sourceWidth, metadata.sourceHeight) = (.png, 4, 4)
        return Image(bitmap: bitmap, metadata: metadata)
    }
}

/// Three frames, of which the second is a hazard. It keeps its images, as animations in memory do.
final class HazardAnimation: AnimatedImageProvider {
    private let name: String
    private let images = [HazardCoder.picture(0), HazardCoder.picture(1), HazardCoder.picture(2)]

    init(_ name: String) { self.name = name }

    var animatedImageData: Data? { nil }
    var frameCount: Int { 3 }
    var loopCount: Int { 0 }
    func duration(at index: Int) -> Double { 0.25 }

    func frame(at index: Int) throws(WebImageError) -> Image {
        if index == 1 { Hazards.run(name) }
        return images[index]
    }
}

/// An image of 4 x 4 pixels, whose region or rows are a hazard.
final class HazardRegions: RegionServer {
    private let name: String

    init(_ name: String) { self.name = name }

    var readableRows: [Int] { name == "endless" ? [0] : [4] }
    var rowFormat: PixelFormat { .bgra8Premultiplied }
    func advance() throws(WebImageError) -> [Int] { readableRows }

    func read(_ area: PixelArea, level: Int) throws(WebImageError) -> Image {
        if name == "refuse" { throw WebImageError(.badImageData, "no\u{1B}[31m picture\n") }
        Hazards.run(name)
        // The first request opened the image.
        Lies.request = 2
        Lies.tell(name)
        return HazardCoder.picture(0)
    }

    func readRows(_ count: Int, width: Int) throws(WebImageError) -> Bitmap {
        Hazards.run(name)
        return HazardCoder.picture(0).bitmap
    }
}
