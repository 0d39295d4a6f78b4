import BenchSupport
import CBenchGTK

/// Measures the frames of a window: how many come, how far apart, and how long the main thread works for each: from the frame clock's
/// `before-paint` to its `after-paint`, which is layout, binding of cells and drawing.
@MainActor
final class FrameMeter {
    /// Called after each frame; what it does is not counted as work.
    var afterFrame: (@MainActor () -> Void)?

    private struct Run {
        var work: [Double] = []
        var intervals: [Double] = []
        var seconds = 0.0
        var processor = 0.0
    }

    private var runs: [String: Run] = [:]
    private var order: [String] = []
    private var name: String?
    private var start = (wall: 0.0, processor: 0.0)
    private var frameStart = 0.0
    private var lastFrame: Double?

    /// - Parameter window: one that is shown.
    init(of window: UnsafeMutablePointer<GtkWidget>) {
        guard let clock = gtk_widget_get_frame_clock(window) else { Measurement.stop("the window is not shown") }
        let unretained = Unmanaged.passRetained(self).toOpaque()
        let before: @convention(c) (OpaquePointer, UnsafeMutableRawPointer) -> Void = { _, meter in
            nonisolated(unsafe) let meter = meter
            MainActor.assumeIsolated { Unmanaged<FrameMeter>.fromOpaque(meter).takeUnretainedValue().frameBegins() }
        }
        let after: @convention(c) (OpaquePointer, UnsafeMutableRawPointer) -> Void = { _, meter in
            nonisolated(unsafe) let meter = meter
            MainActor.assumeIsolated { Unmanaged<FrameMeter>.fromOpaque(meter).takeUnretainedValue().frameEnds() }
        }
        let object = UnsafeMutableRawPointer(clock)
        g_signal_connect_data(
            object,
            "before-paint",
            unsafeBitCast(before, to: GCallback.self),
            unretained,
            nil,
            GConnectFlags(rawValue: 0)
        )
        g_signal_connect_data(
            object,
            "after-paint",
            unsafeBitCast(after, to: GCallback.self),
            unretained,
            nil,
            G_CONNECT_AFTER
        )
    }

    /// Begins to count, under a name that may have been used before.
    func begin(_ name: String) {
        if runs[name] == nil { order.append(name) }
        self.name = name
        start = (Measurement.now(), Measurement.processorTime())
        lastFrame = nil
    }

    func end() {
        guard let name else { return }
        runs[name, default: Run()].seconds += Measurement.now() - start.wall
        runs[name, default: Run()].processor += Measurement.processorTime() - start.processor
        self.name = nil
    }

    private func frameBegins() { frameStart = Measurement.now() }

    private func frameEnds() {
        let now = Measurement.now()
        if let name {
            runs[name, default: Run()].work.append((now - frameStart) * 1000)
            if let lastFrame { runs[name, default: Run()].intervals.append((now - lastFrame) * 1000) }
            lastFrame = now
        }
        afterFrame?()
    }

    func report() {
        for name in order {
            guard let run = runs[name], !run.intervals.isEmpty else { Measurement.stop("no frame came") }
            Measurement.report("fps-\(name)", Double(run.work.count) / run.seconds, "frames/s")
            Measurement.report("work-median-\(name)", percentile(run.work, 0.5), "ms")
            Measurement.report("work-p99-\(name)", percentile(run.work, 0.99), "ms")
            Measurement.report("work-max-\(name)", percentile(run.work, 1), "ms")
            Measurement.report("interval-p99-\(name)", percentile(run.intervals, 0.99), "ms")
            Measurement.report("processor-\(name)", run.processor / run.seconds * 100, "%")
        }
    }

    private func percentile(_ values: [Double], _ share: Double) -> Double {
        let sorted = values.sorted()
        return sorted[min(Int(Double(sorted.count) * share), sorted.count - 1)]
    }
}
