import CWebImageGTK4
import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageGTK

/// Loads started by completions that are called during their view's finalization.
@Suite(.tags(.addressSanitizer), .serialized, .needsDisplay) @MainActor struct FinalizationTests {
    let bench: ViewBench
    let a = ViewBench.url("a.bmp")
    let b = ViewBench.url("b.bmp")

    init() throws { bench = try ViewBench() }

    private final class Noted: WebImageOperation {
        private let count = Lock(0)
        var isCancelled: Bool { count.withLock { $0 > 0 } }
        func cancel() { count.withLock { $0 += 1 } }
    }

    /// Runs a closure during a view's finalization: in the completion of a load that a completion started at its
    /// destruction.
    private func atEnd(of view: OpaquePointer, _ body: @escaping @MainActor () -> Void) async throws {
        let (a, b, context) = (a, b, bench.context)
        let before = ViewState.count
        let window = try await TestWindow(UnsafeMutableRawPointer(view))
        var isOver = false
        view.setImage(with: a, context: context) { _ in
            view.setImage(with: b, context: context) { _ in
                body()
                isOver = true
            }
        }
        try #require(await bench.loader.request(of: a))
        let criticals = await Criticals.count { window.close() }
        #expect(criticals == 0 && isOver)
        #expect(await MainLoopTurns.wait { ViewState.count == before })
    }

    @Test func `An operation put into a slot during finalization is cancelled`() async throws {
        let operation = Noted()
        let view = ViewBench.makeImage()
        try await atEnd(of: view) { view.setImageLoadOperation(operation, in: .named("own")) }
        #expect(operation.isCancelled)
    }

    @Test func `A button gets no image during finalization`() async throws {
        let button = OpaquePointer(try #require(gtk_button_new_with_label("Label")))
        var load: WebImageLoadOperation?
        let told = Told()
        try await atEnd(of: button) {
            load = button.setImage(with: a, in: .background, context: bench.context) { told.results.append($0) }
        }
        #expect(load == nil && told.codes.isEmpty)
    }

    @Test func `A view gets no highlighted image during finalization`() async throws {
        let view = ViewBench.makeImage()
        var load: WebImageLoadOperation?
        var isTouched = true
        try await atEnd(of: view) {
            load = view.setImage(with: a, in: .highlighted, context: bench.context)
            view.isHighlighted = true
            isTouched = ViewState.of(UnsafeMutableRawPointer(view)).highlight != nil
        }
        #expect(load == nil && !isTouched)
    }
}
