import BenchSupport
import FoundationEssentials
import WebImage
import WebImageFormats

/// What decoding a picture while it arrives costs, beside decoding it at once.
///
/// `progressive-bench ITERATIONS PREVIEWS FILE`: gives each decoder the file in pieces of 16 KiB and asks for so many previews of
/// about one megapixel on the way, spread evenly; and decodes it at once, in turns. Processor time per picture of both. As in loads,
/// a preview of a decoder that draws the missing part is held back until that costs no more than a quarter of the decode.
@main struct ProgressiveBench {
    static let pieceByteCount = 16 << 10
    static let previewPixelCount = 1_000_000

    static func main() throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        guard arguments.count == 3, let iterations = Int(arguments[0]), let previews = Int(arguments[1]) else {
            Measurement.stop("usage: progressive-bench ITERATIONS PREVIEWS FILE")
        }
        let data = try InputFile.bytes(arguments[2])
        WebImageFormats.registerAll()
        let coder = ImageCodersManager.shared
        guard coder.canDecodeIncrementally(data) else {
            Measurement.stop("\(arguments[2]): no coder decodes it while it arrives")
        }
        var whole = 0.0
        var pieces = 0.0
        for iteration in 0...iterations {
            let start = Measurement.processorTime()
            _ = try coder.decode(data, options: ImageDecodeOptions())
            let middle = Measurement.processorTime()
            try decode(data, in: coder, previews: previews)
            let end = Measurement.processorTime()
            // The first time brings in code and memory.
            guard iteration > 0 else { continue }
            whole += middle - start
            pieces += end - middle
        }
        Measurement.report("whole", whole * 1000 / Double(iterations), "ms")
        Measurement.report("pieces", pieces * 1000 / Double(iterations), "ms")
    }

    static func decode(_ data: Data, in coder: any ProgressiveImageCoder, previews: Int) throws {
        let decoder = coder.makeProgressiveDecoder(options: ImageDecodeOptions())
        var seen = 0
        for count in stride(from: pieceByteCount, to: data.count, by: pieceByteCount) {
            try decoder.update(data.prefix(count), isFinished: false)
            let missing = 1 - Double(count) / Double(data.count)
            guard seen < previews, count * (previews + 1) >= data.count * (seen + 1),
                decoder.missingPartPreviewCost * missing <= 0.25
            else { continue }
            _ = try decoder.image(maximumPreviewPixelCount: previewPixelCount)
            seen += 1
        }
        guard seen == previews else { Measurement.stop("only \(seen) of \(previews) previews were asked for") }
        try decoder.update(data, isFinished: true)
        guard try decoder.image(maximumPreviewPixelCount: previewPixelCount) != nil else {
            Measurement.stop("there is no picture at the end")
        }
    }
}
