import CWebImageGTK4
import Dispatch
import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageGTK

/// Completions that use their view, and their captures.
@Suite(.tags(.addressSanitizer), .serialized, .needsDisplay) @MainActor struct ReentrancyTests {
    let bench: ViewBench
    let told = Told()
    let a = ViewBench.url("a.bmp")
    let b = ViewBench.url("b.bmp")
    let c = ViewBench.url("c.bmp")

    init() throws { bench = try ViewBench() }

    private func shown() async throws -> (picture: OpaquePointer, window: TestWindow) {
        let picture = ViewBench.makeImage()
        return (picture, try await TestWindow(UnsafeMutableRawPointer(picture)))
    }

    @Test func `A cancelled completion may release the view that loads another image`() async throws {
        let before = ViewState.count
        let (picture, told) = (ViewBench.makeImage(), told)
        let view = UnsafeMutableRawPointer(picture)
        let box = ObjectReference(
            retaining: UnsafeMutableRawPointer(try #require(gtk_box_new(GTK_ORIENTATION_VERTICAL, 0)))
        )
        gtk_box_append(box.pointer.assumingMemoryBound(to: GtkBox.self), view.widget)
        picture.setImage(with: a, context: bench.context) { _ in
            gtk_box_remove(box.pointer.assumingMemoryBound(to: GtkBox.self), view.widget)
        }
        try #require(await bench.loader.request(of: a))
        picture.setImage(with: b, context: bench.context) { told.results.append($0) }
        #expect(told.codes == [.cancelled] && ViewState.count == before, "the view was released by the call")
        #expect(await MainLoopTurns.wait { bench.loader.waiting.isEmpty })
    }

    @Test func `A load started by a cancelled completion gives way to the one that replaced it`() async throws {
        let (picture, window) = try await shown()
        let (told, context, c) = (told, bench.context, c)
        var isFallbackBegun = false
        picture.setImage(with: a, context: context) { result in
            guard case .failure = result else { return }
            isFallbackBegun = picture.setImage(with: c, context: context, completed: { told.results.append($0) }) != nil
        }
        try #require(await bench.loader.request(of: a))
        picture.setImage(with: b, context: context) { told.results.append($0) }
        try #require(await bench.loader.request(of: b))
        #expect(!isFallbackBegun && !bench.loader.requests.contains(c) && told.results.isEmpty)
        #expect(picture.imageURL == b)
        bench.loader.end(b, with: .success(ViewBench.blue))
        try #require(await MainLoopTurns.wait { !told.results.isEmpty })
        await window.frames()
        #expect(try window.pixels(of: UnsafeMutableRawPointer(picture)).middle == [0, 0, 255, 255])
        window.close()
    }

    private final class Noted: WebImageOperation {
        let count = Lock(0)
        var isCancelled: Bool { count.withLock { $0 > 0 } }
        func cancel() { count.withLock { $0 += 1 } }
    }

    @Test func `An operation that a cancelled completion puts into the slot is cancelled, and not retained`()
        async throws
    {
        let (picture, window) = try await shown()
        let operation = Noted()
        picture.setImage(with: a, context: bench.context) { _ in
            picture.setImageLoadOperation(operation, in: .image)
        }
        try #require(await bench.loader.request(of: a))
        let load = picture.setImage(with: b, context: bench.context, completed: nil)
        #expect(operation.isCancelled && load != nil)
        #expect(picture.imageLoadOperation(in: .image) === load)
        picture.cancelCurrentImageLoad()
        #expect(picture.imageLoadOperation(in: .image) == nil)
        window.close()
    }

    @Test func `A load started by a completion continues if nothing replaces it`() async throws {
        let (picture, window) = try await shown()
        let (told, context, c) = (told, bench.context, c)
        picture.setImage(with: a, context: context) { _ in
            picture.setImage(with: c, context: context) { told.results.append($0) }
        }
        try #require(await bench.loader.request(of: a))
        picture.cancelCurrentImageLoad()
        try #require(await bench.loader.request(of: c))
        bench.loader.end(c, with: .success(ViewBench.red))
        try #require(await MainLoopTurns.wait { told.codes == [nil] })
        window.close()
    }

    private final class Kept {}

    @Test(arguments: [[], .waitTransition, .refreshCached, .avoidAutoSetImage, .progressiveLoad] as [WebImageOptions])
    func `A completion is released after its last call, though the image is shown`(options: WebImageOptions)
        async throws
    {
        let (picture, window) = try await shown()
        picture.imageTransition = .fade(duration: 0.02)
        let told = told
        weak var kept: Kept?
        func load() {
            let strong = Kept()
            kept = strong
            picture.setImage(
                with: a,
                options: options,
                context: bench.context,
                progress: { _ in withExtendedLifetime(strong) {} },
                completed: { result in withExtendedLifetime(strong) { told.results.append(result) } }
            )
        }
        load()
        try #require(await bench.loader.request(of: a))
        #expect(kept != nil)
        bench.loader.end(a, with: .success(ViewBench.red))
        try #require(await MainLoopTurns.wait { !told.results.isEmpty })
        #expect(await MainLoopTurns.wait { kept == nil })
        window.close()
    }

    @Test func `A preview does not end an async load, though nothing is set`() async throws {
        let (picture, window) = try await shown()
        let (told, context, a) = (told, bench.context, a)
        let options: WebImageOptions = [.progressiveLoad, .avoidAutoSetImage]
        let data = try Fixtures.data("Animation/pillow.gif")
        let task = Task { try await picture.setImage(awaiting: a, options: options, context: context) }
        try #require(await bench.loader.request(of: a))
        let other = try await shown()
        other.picture.setImage(with: a, options: options, context: context) { told.results.append($0) }
        // It joins the load at some time.
        var count = data.count / 2
        try #require(
            await MainLoopTurns.wait {
                count = min(count + 1, data.count - 10)
                bench.loader.leave(data.prefix(count), a)
                return !told.results.isEmpty
            }
        )
        #expect(try told.results[0].get().image.metadata.isIncremental)
        bench.loader.end(a, with: .success(data))
        let awaited = try await task.value
        #expect(awaited.isFinal && !awaited.image.metadata.isIncremental)
        other.window.close()
        window.close()
    }

    /// The only owner of a widget.
    private func onlyOwner() -> (owner: Lock<ObjectReference?>, widget: WeakObject) {
        let widget = ObjectReference(retaining: UnsafeMutableRawPointer(ViewBench.makeImage()))
        return (Lock(widget), WeakObject(widget.pointer))
    }

    @Test func `A widget is finalized on the main thread, wherever its last owner releases it`() async throws {
        let (owner, widget) = onlyOwner()
        // The main thread does nothing else meanwhile.
        let isOver = DispatchSemaphore(value: 0)
        startThread {
            owner.withLock { $0 = nil }
            isOver.signal()
        }
        isOver.wait()
        #expect(widget.pointer != nil)
        #expect(await MainLoopTurns.wait { widget.pointer == nil })
    }
}
