import FoundationEssentials
import TestSupport
import Testing
import WebImage

@testable import WebImageHTTP

/// Shared code of the tests of optional formats.
struct FormatFixture {
    let coder: any ImageCoder
    /// The directory of the fixtures.
    let folder: String
    /// The extension of their files.
    let ending: String

    func data(_ name: String) throws -> Data { try Fixtures.data("\(folder)/\(name).\(ending)") }

    func expected(_ name: String) throws -> PortableAnymap { try Fixtures.pixels("\(folder)/\(name).pam") }

    func decode(_ name: String, _ options: ImageDecodeOptions = .init()) throws -> Image {
        try coder.decode(data(name), options: options)
    }

    func properties(_ name: String) throws -> ImageProperties {
        try coder.properties(of: data(name), limits: ImageLimits())
    }

    func error(_ data: Data, _ options: ImageDecodeOptions = .init()) -> WebImageError? {
        do throws(WebImageError) {
            _ = try coder.decode(data, options: options)
            return nil
        } catch { return error }
    }

    /// Truncates the file at every 1/16 of its length.
    func truncate(_ name: String) throws {
        let original = try data(name)
        let size = try properties(name)
        for part in 0..<16 {
            let cut = original.prefix(original.count * part / 16)
            do throws(WebImageError) {
                let image = try coder.decode(cut, options: ImageDecodeOptions())
                // Only data after the pixels may be missing.
                let sides = [image.pixelWidth, image.pixelHeight]
                #expect(sides.sorted() == [size.width, size.height].sorted() && part > 8, "\(name) at \(part)/16")
            } catch { #expect(error.code == .badImageData, "\(name) at \(part)/16: \(error)") }
            _ = try? coder.properties(of: cut, limits: ImageLimits())
            if let animated = coder as? any AnimatedImageCoder { Self.playAll(animated, cut) }
        }
    }

    /// Changes bytes at random; a decoded image must have the header's size.
    func corrupt(_ name: String, seeds: Range<UInt64>) throws {
        let original = try data(name)
        for seed in seeds {
            var random = SeededGenerator(seed: seed)
            var data = original
            for _ in 0...Int.random(in: 0..<5, using: &random) {
                // More often in the headers than a uniform choice would.
                let range = Bool.random(using: &random) ? 0..<min(300, data.count) : 0..<data.count
                data[Int.random(in: range, using: &random)] = .random(in: 0...255, using: &random)
            }
            var options = ImageDecodeOptions()
            options.limits.maximumPixelCount = 1 << 20
            options.limits.maximumFrameCount = 100
            let header = try? coder.properties(of: data, limits: options.limits)
            if let image = try? coder.decode(data, options: options) {
                let swaps = header?.orientation.swapsSides == true
                let size = [image.pixelWidth, image.pixelHeight]
                #expect(header.map { swaps ? [$0.height, $0.width] : [$0.width, $0.height] } == size, "seed \(seed)")
            }
            if let animated = coder as? any AnimatedImageCoder { Self.playAll(animated, data, options) }
        }
    }

    private static func playAll(
        _ coder: any AnimatedImageCoder,
        _ data: Data,
        _ options: ImageDecodeOptions = .init()
    ) {
        guard let animation = try? coder.animation(of: data, options: options) else { return }
        for index in (0..<animation.frameCount).reversed() {
            _ = try? animation.frame(at: index)
            _ = animation.duration(at: index)
        }
    }

    /// The difference of frame `index` of an animation from the reference decoder's.
    func difference(_ image: Image, _ name: String) throws -> PixelDifference {
        try PixelDifference(image.bitmap, expected(name))
    }
}

extension Bitmap {
    /// All pixels, red, green, blue, alpha.
    var components: [[UInt8]] {
        (0..<height).flatMap { y in (0..<width).map { premultipliedRGBA(x: $0, y: y) } }
    }
}
