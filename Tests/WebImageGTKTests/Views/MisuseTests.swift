import CWebImageGTK4
import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageGTK

/// Programming errors end the program with a message.
@Suite(.tags(.addressSanitizer), .serialized, .needsDisplay) @MainActor struct MisuseTests {
    /// The error output of a process.
    private func words(_ result: ExitTest.Result?) -> String {
        String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    }

    @Test func `setImage of an object that is not a widget traps`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try await MainActor.run {
                try Display.open()
                try #require(gtk_string_list_new(nil)).setImage(with: nil)
            }
        }
        #expect(words(result).contains("not a GtkWidget"))
    }

    @Test func `setImage for a state of a widget that is not a button traps`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try await MainActor.run {
                try Display.open()
                ViewBench.makeImage().setImage(with: nil, in: .image(.active))
            }
        }
        #expect(words(result).contains("not a GtkButton"))
    }

    @Test func `Binding an object that is not a list item traps`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try await MainActor.run {
                try Display.open()
                ListImageLoader { _, _ in nil }.bind(ViewBench.makeImage())
            }
        }
        #expect(words(result).contains("not a GtkListItem"))
    }

    @Test func `An object that is not a paintable traps as a placeholder`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try await MainActor.run {
                try Display.open()
                _ = PaintableReference(ViewBench.makeImage())
            }
        }
        #expect(words(result).contains("not a GdkPaintable"))
    }

    @Test func `Calls off the main thread trap`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            // As from a main actor that left the main thread: the compiler prevents all other cases.
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
