import BenchSupport
import FoundationEssentials
import WebImage

/// What decoding in a process of its own costs. The program is its own worker.
///
/// `isolation-bench still ITERATIONS FILE`: decodes a file that often here and in a worker, in turns; wall clock, in milliseconds, of each
/// (`inside`, `isolated`) and of what the worker takes longer (`difference`), the middle of all. The last pictures are kept, as programs do that show what
/// they load, and a byte of each page is looked at.
/// `isolation-bench start ITERATIONS FILE`: the first picture of a new worker, in milliseconds.
@main struct IsolationBench {
    /// Pictures that are kept.
    static let kept = 12

    static func main() throws {
        DecodeWorker.runIfRequested()
        let arguments = Array(CommandLine.arguments.dropFirst())
        guard arguments.count == 3, let iterations = Int(arguments[1]), iterations > 0 else {
            Measurement.stop("usage: isolation-bench still|start ITERATIONS FILE")
        }
        let file = try InputFile.bytes(arguments[2])
        switch arguments[0] {
        case "still": try still(file, iterations)
        case "start": try start(file, iterations)
        default: Measurement.stop("there is no mode \(arguments[0])")
        }
    }

    static func still(_ file: Data, _ iterations: Int) throws {
        let inside = ImageCodersManager.shared
        let isolated = IsolatedImageCoder()
        var shown: [Image] = []
        func once(_ coder: any ImageCoder) throws -> Double {
            let start = Measurement.now()
            let image = try coder.decode(file, options: ImageDecodeOptions())
            look(at: image)
            let end = Measurement.now()
            shown.append(image)
            if shown.count > kept { shown.removeFirst() }
            return (end - start) * 1000
        }
        for _ in 0..<kept { _ = (try once(inside), try once(isolated)) }
        var times: (inside: [Double], isolated: [Double]) = ([], [])
        for _ in 0..<iterations {
            times.inside.append(try once(inside))
            times.isolated.append(try once(isolated))
        }
        Measurement.report("inside", Measurement.median(times.inside), "ms")
        Measurement.report("isolated", Measurement.median(times.isolated), "ms")
        let differences = zip(times.isolated, times.inside).map { $0 - $1 }
        Measurement.report("difference", Measurement.median(differences), "ms")
    }

    static func start(_ file: Data, _ iterations: Int) throws {
        var times: [Double] = []
        for iteration in 0..<iterations {
            var isolation = DecodeIsolation()
            // Workers of other rules are others.
            isolation.maximumDecodeCount = 1000 + iteration
            let start = Measurement.now()
            _ = try IsolatedImageCoder(isolation).decode(file, options: ImageDecodeOptions())
            times.append((Measurement.now() - start) * 1000)
        }
        Measurement.report("start", Measurement.median(times), "ms")
    }

    /// Looks at a byte of each page.
    @inline(never)
    static func look(at image: Image) {
        let sum = image.bitmap.withUnsafeBytes { bytes in
            stride(from: 0, to: bytes.count, by: 4096).reduce(0) { $0 &+ Int(bytes[$1]) }
        }
        if sum == -1 { print(sum) }
    }
}
