import CWebImageGTK4
import FoundationEssentials
import ModelTestSupport
import Testing
import WebImage

@testable import WebImageGTK

/// Applications, windows and views released during loads, in every order.
@Suite(.tags(.addressSanitizer), .serialized, .needsDisplay) @MainActor struct ApplicationOrderTests {
    nonisolated enum Step: CaseIterable, Sendable {
        case quit, destroyWindow, unrefApplication, releaseView, deliver

        static let orders: [[Step]] = orders(of: allCases)

        private static func orders(of steps: [Step]) -> [[Step]] {
            guard steps.count > 1 else { return [steps] }
            return steps.flatMap { step in orders(of: steps.filter { $0 != step }).map { [step] + $0 } }
        }
    }

    let bench: ViewBench

    init() throws { bench = try ViewBench() }

    @Test(arguments: Step.orders)
    func `An application, a window of two and its view can be released in every order`(order: [Step]) async throws {
        let remnants = Remnants()
        let windowCount = WindowWatches.shared.count
        let program = try TwoWindows(bench, remnants)
        // A call to quit leaves the loop when it returns there; later steps happen outside.
        let outside = order.drop { $0 != .quit }.dropFirst()
        program.run {
            #expect(WindowWatches.shared.count == windowCount + 2)
            for step in order.dropLast(outside.count) { program.take(step) }
        }
        for step in outside { program.take(step) }
        #expect(WindowWatches.shared.count == windowCount + 1)
        program.second.close()
        let before = order.prefix { $0 != .deliver }
        let isLoaded = !(before.contains(.destroyWindow) && before.contains(.releaseView))
        #expect(program.first.told.codes == [isLoaded ? nil : .cancelled] && program.second.told.codes == [nil])
        #expect(bench.loader.cancelled == (isLoaded ? [] : [program.first.url]))
        #expect(WindowWatches.shared.count == windowCount)
        program.first.told.results = []
        program.second.told.results = []
        await bench.cache.clear(.memory)
        #expect(await remnants.areGone() == [])
    }
}

/// An application with two windows, in each of which a view loads an image.
@MainActor
private final class TwoWindows {
    let first: LoadingWindow
    let second: LoadingWindow
    private let bench: ViewBench
    private let remnants: Remnants
    private let application: UnsafeMutablePointer<GtkApplication>
    private let base: UnsafeMutablePointer<GApplication>

    init(_ bench: ViewBench, _ remnants: Remnants) throws {
        (self.bench, self.remnants) = (bench, remnants)
        (first, second) = (LoadingWindow("first.bmp", isViewKept: true), LoadingWindow("second.bmp"))
        application = try #require(gtk_application_new("test.webimage.Order", webimage_gtk_application_non_unique))
        base = UnsafeMutableRawPointer(application).assumingMemoryBound(to: GApplication.self)
        remnants.watch("application", UnsafeMutableRawPointer(application))
        WebImageLifecycle.connect(to: application)
    }

    /// Runs the application until it quits.
    func run(_ activated: @escaping @MainActor () -> Void) {
        // The caller's reference: GLib requires one during the run.
        g_object_ref(UnsafeMutableRawPointer(base))
        Signal("activate", of: UnsafeMutableRawPointer(base)) { [unowned self] in
            for window in [first, second] {
                window.open(application, bench)
                turn { bench.loader.waiting.contains(window.url) }
                window.watch(remnants)
            }
            activated()
        }
        #expect(g_application_run(base, 0, nil) == 0)
        g_object_unref(UnsafeMutableRawPointer(base))
    }

    func take(_ step: ApplicationOrderTests.Step) {
        switch step {
        case .quit: g_application_quit(base)
        case .destroyWindow: first.close()
        case .unrefApplication: g_object_unref(UnsafeMutableRawPointer(base))
        case .releaseView: first.release()
        case .deliver:
            for window in [first, second] {
                // A loader that is just being called is notified on the thread that calls it.
                if window.told.codes == [.cancelled] { turn { bench.loader.cancelled.contains(window.url) } }
                bench.loader.end(window.url, with: .success(ViewBench.red))
                turn { window.told.results.count == 1 }
                window.watch(remnants)
            }
        }
    }

    /// Turns the main loop until a condition holds.
    private func turn(until condition: () -> Bool) {
        let end = g_get_monotonic_time() + 20_000_000
        while !condition(), g_get_monotonic_time() < end { g_main_context_iteration(nil, 0) }
        #expect(condition())
    }
}

/// A window whose view loads an image.
@MainActor
private final class LoadingWindow {
    let url: URL
    let told = Told()
    private var window: UnsafeMutablePointer<GtkWindow>?
    /// The reference of an owner that releases the view late.
    private var view: ObjectReference?
    private let isViewKept: Bool
    private let picture = ViewBench.makeImage()

    init(_ name: String, isViewKept: Bool = false) {
        url = ViewBench.url(name)
        self.isViewKept = isViewKept
    }

    func open(_ application: UnsafeMutablePointer<GtkApplication>, _ bench: ViewBench) {
        if isViewKept { view = ObjectReference(retaining: UnsafeMutableRawPointer(picture)) }
        let widget = gtk_application_window_new(application)
        window = UnsafeMutableRawPointer(widget)?.assumingMemoryBound(to: GtkWindow.self)
        gtk_window_set_child(window, UnsafeMutableRawPointer(picture).widget)
        gtk_window_present(window)
        let told = told
        picture.setImage(with: url, context: bench.context, completed: { told.results.append($0) })
    }

    func watch(_ remnants: Remnants) {
        if let window { remnants.watch("window", UnsafeMutableRawPointer(window)) }
        if window != nil || view != nil { remnants.watch(view: UnsafeMutableRawPointer(picture)) }
    }

    func close() {
        gtk_window_destroy(window)
        window = nil
    }

    func release() { view = nil }
}
