import CWebImageGTK4
import FoundationEssentials
import Glibc
import ModelTestSupport
import Testing
import WebImage

@testable import WebImageGTK

/// Views, cells and windows released during their loads, in every order.
@Suite(.tags(.addressSanitizer), .serialized, .needsDisplay) @MainActor struct DestructionTests {
    nonisolated enum Step: CaseIterable, Sendable { case unparent, destroyWindow, releaseView, deliver }

    nonisolated static let orders: [[Step]] = orders(of: Step.allCases)

    private nonisolated static func orders(of steps: [Step]) -> [[Step]] {
        guard steps.count > 1 else { return [steps] }
        return steps.flatMap { step in orders(of: steps.filter { $0 != step }).map { [step] + $0 } }
    }

    let bench: ViewBench
    let told = Told()
    let url = ViewBench.url("a.bmp")

    init() throws { bench = try ViewBench() }

    @Test(arguments: orders) func `A view can be released in every order of steps`(order: [Step]) async throws {
        let remnants = Remnants()
        let picture = ViewBench.makeImage()
        let view = UnsafeMutableRawPointer(picture)
        // The extra reference of an owner that releases it late.
        g_object_ref_sink(view)
        let box = UnsafeMutableRawPointer(try #require(gtk_box_new(GTK_ORIENTATION_VERTICAL, 0)))
        gtk_box_append(box.assumingMemoryBound(to: GtkBox.self), view.widget)
        let window = try await TestWindow(box)
        remnants.watch("window", UnsafeMutableRawPointer(window.window))
        picture.imageTransition = .fade
        let told = told
        picture.setImage(with: url, context: bench.context, completed: { told.results.append($0) })
        try #require(await bench.loader.request(of: url))
        remnants.watch(view: view)
        var (isParented, isReleased) = (true, false)
        let isLoaded = !order.prefix { $0 != .deliver }.endsView
        for step in order {
            switch step {
            case .unparent:
                if isParented { gtk_box_remove(box.assumingMemoryBound(to: GtkBox.self), view.widget) }
                isParented = false
            case .destroyWindow:
                // The box is released with it, and the view stays as long as it has owners.
                window.close()
                isParented = false
            case .releaseView:
                g_object_unref(view)
                isReleased = true
            case .deliver:
                // A loader that is just being called is notified on the thread that calls it.
                if !isLoaded { #expect(await MainLoopTurns.wait { bench.loader.cancelled == [url] }) }
                bench.loader.end(url, with: .success(ViewBench.red))
                #expect(await MainLoopTurns.wait { told.results.count == 1 })
                if isParented || !isReleased { remnants.watch(view: view) }
            }
        }
        #expect(told.codes == [isLoaded ? nil : .cancelled])
        #expect(remnants.names.contains("image") == isLoaded && remnants.names.isSuperset(of: ["load", "paintable"]))
        #expect(bench.loader.cancelled == (isLoaded ? [] : [url]) && bench.loader.waiting.isEmpty)
        told.results = []
        await bench.cache.clear(.memory)
        #expect(await remnants.areGone() == [])
    }

    @Test func `An image in delivery when its view is released is not reported, and is released, too`() async throws {
        let remnants = Remnants()
        let picture = ViewBench.makeImage()
        let view = UnsafeMutableRawPointer(picture)
        let window = try await TestWindow(view)
        let told = told
        picture.usesAutomaticThumbnailSize = false
        picture.setImage(with: url, context: bench.context, completed: { told.results.append($0) })
        try #require(await bench.loader.request(of: url))
        remnants.watch(view: view)
        bench.loader.end(url, with: .success(ViewBench.red))
        // Without a turn of the loop, so that it is not delivered.
        let end = g_get_monotonic_time() + 20_000_000
        while bench.cache.memoryImage(forKey: url.absoluteString) == nil, g_get_monotonic_time() < end { sched_yield() }
        #expect(bench.cache.memoryImage(forKey: url.absoluteString) != nil && told.results.isEmpty)
        window.close()
        #expect(told.codes == [.cancelled])
        await bench.cache.clear(.memory)
        #expect(await remnants.areGone() == [])
        #expect(told.codes == [.cancelled])
    }

    @Test func `A completion that starts another load when its view is destroyed does so once, and not forever`()
        async throws
    {
        let before = ViewState.count
        let picture = ViewBench.makeImage()
        let window = try await TestWindow(UnsafeMutableRawPointer(picture))
        let (told, url, context) = (told, url, bench.context)
        func load() {
            picture.setImage(
                with: url,
                context: context,
                completed: { result in
                    told.results.append(result)
                    load()
                }
            )
        }
        load()
        try #require(await bench.loader.request(of: url))
        window.close()
        #expect(told.codes == [.cancelled, .cancelled], "at the view's destruction, and at its finalization")
        #expect(await MainLoopTurns.wait { ViewState.count == before && bench.loader.waiting.isEmpty })
    }

    @Test func `A destroyed view with another owner can be used in another window`() async throws {
        let picture = ViewBench.makeImage()
        let view = UnsafeMutableRawPointer(picture)
        g_object_ref_sink(view)
        let box = UnsafeMutableRawPointer(try #require(gtk_box_new(GTK_ORIENTATION_VERTICAL, 0)))
        gtk_box_append(box.assumingMemoryBound(to: GtkBox.self), view.widget)
        let first = try await TestWindow(box)
        let told = told
        picture.setImage(with: url, context: bench.context, completed: { told.results.append($0) })
        first.close()
        gtk_widget_unparent(view.widget)
        let second = try await TestWindow(view)
        g_object_unref(view)
        picture.setImage(with: url, context: bench.context, completed: { told.results.append($0) })
        try #require(await bench.loader.request(of: url))
        bench.loader.end(url, with: .success(ViewBench.red))
        try #require(await MainLoopTurns.wait { told.codes.last == .some(nil) })
        await second.frames()
        #expect(try second.pixels(of: view).middle == [255, 0, 0, 255])
        second.close()
    }

    @Test func `A hundred views released during their transitions leave nothing behind`() async throws {
        let remnants = Remnants()
        for round in 0..<4 {
            let box = UnsafeMutableRawPointer(try #require(gtk_box_new(GTK_ORIENTATION_VERTICAL, 0)))
            let pictures = (0..<25).map { _ in ViewBench.makeImage() }
            for picture in pictures {
                gtk_box_append(box.assumingMemoryBound(to: GtkBox.self), UnsafeMutableRawPointer(picture).widget)
                picture.imageTransition = .fade
            }
            let window = try await TestWindow(box)
            for picture in pictures { picture.setImage(with: url, options: .forceTransition, context: bench.context) }
            if round == 0 { try #require(await bench.loader.request(of: url)) }
            bench.loader.end(url, with: .success(ViewBench.red))
            await window.frames(round + 1)
            for picture in pictures { remnants.watch(view: UnsafeMutableRawPointer(picture)) }
            window.close()
        }
        await bench.cache.clear(.memory)
        #expect(await remnants.areGone() == [])
    }
}

extension Collection<DestructionTests.Step> {
    /// Returns whether the view has no owner after all steps: its own reference and its parent's were released.
    fileprivate var endsView: Bool {
        contains(.releaseView) && (contains(.unparent) || contains(.destroyWindow))
    }
}
