import CWebImageGTK4
import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageGTK

/// What a program cannot mean ends it, and says why.
@Suite(.tags(.addressSanitizer), .serialized, .needsDisplay) @MainActor struct MisuseTests {
    /// What a process said when it ended.
    private func words(_ result: ExitTest.Result?) -> String {
        String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    }

    @Test func `An object that is no widget has no picture`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try await MainActor.run {
                try Display.open()
                try #require(gtk_string_list_new(nil)).setImage(with: nil)
            }
        }
        #expect(words(result).contains("not a GtkWidget"))
    }

    @Test func `A widget that is no button has no picture for a state`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try await MainActor.run {
                try Display.open()
                ViewBench.makeImage().setImage(with: nil, in: .image(.active))
            }
        }
        #expect(words(result).contains("not a GtkButton"))
    }

    @Test func `An object that is no list item is not bound`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try await MainActor.run {
                try Display.open()
                ListImageLoader { _, _ in nil }.bind(ViewBench.makeImage())
            }
        }
        #expect(words(result).contains("not a GtkListItem"))
    }

    @Test func `An object that is no paintable is no placeholder`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try await MainActor.run {
                try Display.open()
                _ = PaintableReference(ViewBench.makeImage())
            }
        }
        #expect(words(result).contains("not a GdkPaintable"))
    }

    @Test func `Off the main thread nothing is begun`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            // As from a main actor that left the main thread: the compiler sees to it that nobody else comes here.
            let install: @MainActor @Sendable () -> Void = { MainLoopIntegration.install() }
            let anywhere = unsafeBitCast(install, to: (@Sendable () -> Void).self)
            await withCheckedContinuation { continuation in
                startThread {
                    anywhere()
                    continuation.resume()
                }
            }
        }
        #expect(words(result).contains("GTK must run on the main thread"))
    }
}
