import BenchSupport
import CAllocationCounter
import FoundationEssentials
import WebImage

/// What decoding JPEG costs; the arguments and the answers of the C program jpeg-decode.
///
/// `jpeg-bench full|high|fast ITERATIONS FILE…`: decodes each file that often from memory; processor time per picture.
/// `jpeg-bench peak full|high|fast SMALL LARGE`: decodes a small file to warm up, then a large one; the heap and the memory
/// that the second took at its peak, and the memory of the whole process.
@main struct JPEGBench {
    static func main() throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        if arguments.count == 4, arguments[0] == "peak", let options = options(arguments[1]) {
            try peak(options, small: arguments[2], large: arguments[3])
        } else if arguments.count > 2, let options = options(arguments[0]), let iterations = Int(arguments[1]) {
            try time(options, iterations: iterations, paths: arguments.dropFirst(2))
        } else {
            Measurement.stop("usage: jpeg-bench full|high|fast ITERATIONS FILE… | peak full|high|fast SMALL LARGE")
        }
    }

    static func options(_ mode: String) -> ImageDecodeOptions? {
        var options = ImageDecodeOptions()
        switch mode {
        case "full":
            options.pixelFormat = .bgra8Premultiplied
        case "high", "fast":
            options.thumbnailPixelSize = ImageSize(width: 300, height: 300)
            options.scalingQuality = mode == "fast" ? .fast : .high
        default:
            return nil
        }
        return options
    }

    static func time(_ options: ImageDecodeOptions, iterations: Int, paths: ArraySlice<String>) throws {
        let coder = JPEGCoder()
        let files = try paths.map { try InputFile.bytes($0) }
        for file in files { _ = try coder.decode(file, options: options) }
        let start = Measurement.processorTime()
        for _ in 0..<iterations {
            for file in files { _ = try coder.decode(file, options: options) }
        }
        let elapsed = Measurement.processorTime() - start
        Measurement.report("cpu", elapsed * 1000 / Double(iterations * files.count), "ms")
    }

    static func peak(_ options: ImageDecodeOptions, small: String, large: String) throws {
        let coder = JPEGCoder()
        let warmUp = try InputFile.bytes(small)
        let file = try InputFile.bytes(large)
        _ = try coder.decode(warmUp, options: options)
        let before = Measurement.residentMegabytes()
        try Measurement.resetPeak()
        let heapBefore = bench_heap_bytes()
        bench_heap_reset_peak()
        _ = try coder.decode(file, options: options)
        Measurement.report("heap", Double(bench_heap_peak_bytes() - heapBefore) / Double(1 << 20), "MB")
        Measurement.report("growth", Measurement.peakMegabytes() - before, "MB")
        Measurement.report("peak", Measurement.peakMegabytes(), "MB")
    }
}
