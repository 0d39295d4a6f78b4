import BenchSupport
import CBenchGTK
import FoundationEssentials
import WebImage
import WebImageGTK

/// Animations side by side.
///
/// `gtk-animation-bench SECONDS FILE…`: plays the files, of 320 × 240 pixels, three in a row, each in a view of that size. For so many
/// seconds it looks at what each shows after every frame of the window: the colour in the middle is the number of the animation's
/// frame. Then for as long it looks at the processor time alone.
@main @MainActor struct AnimationBench {
    static func main() {
        let arguments = Array(CommandLine.arguments.dropFirst())
        guard arguments.count >= 2, let seconds = Double(arguments[0]) else {
            Measurement.stop("usage: gtk-animation-bench SECONDS FILE…")
        }
        guard gtk_init_check() != 0 else { Measurement.stop("there is no display") }
        let wall = Wall(arguments.dropFirst().map { URL(filePath: $0) })
        // Until all have played through once.
        turn(for: 3)
        wall.beginCounting()
        turn(for: seconds)
        wall.endCounting()
        let start = (Measurement.now(), Measurement.processorTime())
        turn(for: seconds)
        let elapsed = Measurement.now() - start.0
        wall.report()
        Measurement.report("processor", (Measurement.processorTime() - start.1) / elapsed * 100, "%")
        Measurement.report("rss", Measurement.residentMegabytes(), "MB")
    }

    /// Lets the main loop run.
    private static func turn(for seconds: Double) {
        let end = Measurement.now() + seconds
        let timer = g_timeout_add(10, { _ in 1 }, nil)
        defer { g_source_remove(timer) }
        while Measurement.now() < end { g_main_context_iteration(nil, 1) }
    }
}
