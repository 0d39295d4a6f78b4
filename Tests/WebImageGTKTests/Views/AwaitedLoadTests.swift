import CWebImageGTK4
import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageGTK

/// The async forms.
@Suite(.tags(.addressSanitizer), .serialized, .needsDisplay) @MainActor struct AwaitedLoadTests {
    let bench: ViewBench
    let a = ViewBench.url("a.bmp")
    let b = ViewBench.url("b.bmp")

    enum Form: CaseIterable, Sendable {
        case picture, highlighted, button, background

        @MainActor
        func makeView() throws -> OpaquePointer {
            switch self {
            case .picture, .highlighted: ViewBench.makeImage()
            case .button, .background: OpaquePointer(try #require(gtk_button_new()))
            }
        }

        var slot: ImageSlot {
            switch self {
            case .picture, .button: .image
            case .background: .background
            case .highlighted: .highlighted
            }
        }

        /// Loads, and returns the error; nil for an image.
        @MainActor
        func load(_ view: OpaquePointer, _ url: URL?, _ context: WebImageContext) async -> WebImageError.Code? {
            do throws(WebImageError) {
                try await view.setImage(awaiting: url, in: slot, context: context)
                return nil
            } catch { return error.code }
        }
    }

    init() throws { bench = try ViewBench() }

    private func begin(_ form: Form, _ url: URL?) async throws -> (
        view: OpaquePointer, window: TestWindow, task: Task<WebImageError.Code?, Never>
    ) {
        let view = try form.makeView()
        let window = try await TestWindow(UnsafeMutableRawPointer(view))
        let context = bench.context
        return (view, window, Task { await form.load(view, url, context) })
    }

    @Test(arguments: Form.allCases) func `The async form throws the load's error`(form: Form) async throws {
        let (_, window, task) = try await begin(form, a)
        try #require(await bench.loader.request(of: a))
        bench.loader.end(a, with: .failure(WebImageError(.invalidDownloadStatusCode, "no")))
        #expect(await task.value == .invalidDownloadStatusCode)
        window.close()
    }

    @Test(arguments: Form.allCases) func `The async form throws at once without a URL`(form: Form) async throws {
        let (_, window, task) = try await begin(form, nil)
        #expect(await task.value == .invalidURL)
        window.close()
    }

    @Test(arguments: Form.allCases) func `The async form throws when another load replaces its own`(form: Form)
        async throws
    {
        let (view, window, task) = try await begin(form, a)
        try #require(await bench.loader.request(of: a))
        let context = bench.context
        let next = Task { await form.load(view, b, context) }
        #expect(await task.value == .cancelled)
        try #require(await bench.loader.request(of: b))
        bench.loader.end(b, with: .success(ViewBench.blue))
        #expect(await next.value == nil)
        window.close()
    }

    @Test(arguments: Form.allCases) func `The async form throws when the view is destroyed`(form: Form) async throws {
        let before = ViewState.count
        let (_, window, task) = try await begin(form, a)
        try #require(await bench.loader.request(of: a))
        window.close()
        #expect(await task.value == .cancelled)
        #expect(await MainLoopTurns.wait { ViewState.count == before })
    }

    @Test(arguments: Form.allCases) func `A cancelled task loads nothing`(form: Form) async throws {
        let (view, window, task) = try await begin(form, a)
        // It has not begun: this is the main thread, which has not been yielded.
        task.cancel()
        #expect(await task.value == .cancelled)
        #expect(view.latestLoadState?.error?.code == .cancelled)
        #expect(await MainLoopTurns.wait { bench.loader.waiting.isEmpty && !bench.manager.isRunning })
        window.close()
    }
}
