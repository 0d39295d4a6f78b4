import BenchSupport
import FoundationEssentials
import WebImage
import WebImageFormats
import WebImageSVG

/// What decoding each format costs; the arguments and the answers of the C program format-decode.
///
/// `format-bench decode ITERATIONS FILE`: decodes a file that often from memory; processor time and time per picture.
/// `format-bench frames LOOPS FILE`: plays an animation that often, every frame; frames per second of processor time.
/// `format-bench resize WIDTHxHEIGHT ITERATIONS FILE`: resizes a decoded picture that often; processor time and time of one.
@main struct FormatBench {
    static func main() throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        // Processor time is that of this process.
        ImageCodersManager.shared.add(SVGCoder(maximumInProcessByteCount: .max))
        WebImageFormats.registerAll()
        switch (arguments.first, arguments.count) {
        case ("decode", 3): try decode(iterations: Int(arguments[1]) ?? 1, path: arguments[2])
        case ("frames", 3): try play(loops: Int(arguments[1]) ?? 1, path: arguments[2])
        case ("resize", 4): try resize(to: arguments[1], iterations: Int(arguments[2]) ?? 1, path: arguments[3])
        default:
            Measurement.stop(
                "usage: format-bench decode ITERATIONS FILE | frames LOOPS FILE | resize WxH ITERATIONS FILE"
            )
        }
    }

    static func decode(iterations: Int, path: String) throws {
        let file = try InputFile.bytes(path)
        var options = ImageDecodeOptions()
        options.decodeFirstFrameOnly = true
        _ = try ImageCodersManager.shared.decode(file, options: options)
        let (start, time) = (Measurement.processorTime(), Measurement.now())
        for _ in 0..<iterations { _ = try ImageCodersManager.shared.decode(file, options: options) }
        Measurement.report("cpu", (Measurement.processorTime() - start) * 1000 / Double(iterations), "ms")
        Measurement.report("wall", (Measurement.now() - time) * 1000 / Double(iterations), "ms")
    }

    static func play(loops: Int, path: String) throws {
        let file = try InputFile.bytes(path)
        let animation = try ImageCodersManager.shared.animation(of: file, options: ImageDecodeOptions())
        func once() throws { for index in 0..<animation.frameCount { _ = try animation.frame(at: index) } }
        try once()
        let start = Measurement.processorTime()
        for _ in 0..<loops { try once() }
        let count = Double(loops * animation.frameCount)
        Measurement.report("frames", count / (Measurement.processorTime() - start), "frames/s")
    }

    static func resize(to size: String, iterations: Int, path: String) throws {
        let sides = size.split(separator: "x").compactMap { Double($0) }
        guard sides.count == 2 else { Measurement.stop("\(size) is no size") }
        let image = try ImageCodersManager.shared.decode(try InputFile.bytes(path), options: ImageDecodeOptions())
        let transformer = ResizingTransformer(size: ImageSize(width: sides[0], height: sides[1]), scaleMode: .fill)
        _ = try transformer.transform(image)
        let (start, time) = (Measurement.processorTime(), Measurement.now())
        for _ in 0..<iterations { _ = try transformer.transform(image) }
        Measurement.report("cpu", (Measurement.processorTime() - start) * 1000 / Double(iterations), "ms")
        Measurement.report("wall", (Measurement.now() - time) * 1000 / Double(iterations), "ms")
    }
}
