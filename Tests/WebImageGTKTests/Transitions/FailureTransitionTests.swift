import CWebImageGTK4
import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageGTK

/// Transitions to the placeholder that a load delayed until it failed.
@Suite(.tags(.addressSanitizer), .serialized, .needsDisplay) @MainActor struct FailureTransitionTests {
    let bench: ViewBench
    let told = Told()
    let record = Record()
    let a = ViewBench.url("a.bmp")
    let b = ViewBench.url("b.bmp")

    @MainActor final class Record {
        var events: [String] = []
    }

    /// A view on the screen, and the widget that draws its image.
    @MainActor private struct Stage {
        let view: OpaquePointer
        let window: TestWindow
        let paintable: ImagePaintable
    }

    init() throws { bench = try ViewBench() }

    private func stage(_ kind: ViewKind) async throws -> Stage {
        let view = try kind.make()
        let window = try await TestWindow(UnsafeMutableRawPointer(view))
        if kind == .button {
            // Its inner `GtkPicture` exists from the first load on, and is drawn before the image of the test.
            view.setImage(with: nil)
            await window.frames()
        }
        return Stage(view: view, window: window, paintable: kind.paintable(of: view))
    }

    private func transition(_ duration: Double) -> WebImageTransition {
        let record = record
        var transition = WebImageTransition.fade(duration: duration)
        transition.prepares = { _, result in
            record.events.append("prepares \(result == nil ? "nothing" : "picture")")
        }
        transition.completion = { record.events.append("completion \($0)") }
        return transition
    }

    private func set(
        _ view: OpaquePointer,
        _ url: URL,
        _ options: WebImageOptions,
        placeholder: ViewPlaceholder? = nil
    ) {
        let (told, record) = (told, record)
        view.setImage(
            with: url,
            placeholder: placeholder,
            options: options,
            context: bench.context,
            completed: {
                told.results.append($0)
                record.events.append("told")
            }
        )
    }

    private func fail(_ url: URL) async throws {
        try #require(await bench.loader.request(of: url))
        bench.loader.end(url, with: .failure(WebImageError(.invalidDownloadStatusCode, "no")))
    }

    private func green() throws -> Image {
        try ImageCodersManager.shared.decode(ViewBench.green, options: ImageDecodeOptions())
    }

    @Test(arguments: ViewKind.allCases)
    func `With waitTransition the caller is notified of the failure when the placeholder is shown`(kind: ViewKind)
        async throws
    {
        let stage = try await stage(kind)
        stage.view.imageTransition = transition(0.1)
        let green = try green()
        set(stage.view, a, [.delayPlaceholder, .waitTransition], placeholder: .image(green))
        try await fail(a)
        #expect(await MainLoopTurns.wait { record.events.count == 3 })
        #expect(record.events == ["prepares nothing", "completion true", "told"])
        #expect(told.codes == [.invalidDownloadStatusCode] && stage.paintable.content?.image === green)
        stage.window.close()
    }

    @Test(arguments: ViewKind.allCases)
    func `Without waitTransition the caller is notified at once`(kind: ViewKind) async throws {
        let stage = try await stage(kind)
        stage.view.imageTransition = transition(60)
        set(stage.view, a, .delayPlaceholder, placeholder: .image(try green()))
        try await fail(a)
        #expect(await MainLoopTurns.wait { !told.results.isEmpty })
        #expect(record.events == ["prepares nothing", "told"] && stage.paintable.transitionProgress != nil)
        stage.window.close()
    }

    @Test(arguments: ViewKind.allCases)
    func `Without a placeholder there is no transition`(kind: ViewKind) async throws {
        let stage = try await stage(kind)
        set(stage.view, b, [])
        try #require(await bench.loader.request(of: b))
        bench.loader.end(b, with: .success(ViewBench.blue))
        #expect(await MainLoopTurns.wait { told.codes == [nil] })
        stage.view.imageTransition = transition(60)
        set(stage.view, a, .delayPlaceholder)
        #expect(stage.paintable.content != nil, "until it fails")
        try await fail(a)
        #expect(await MainLoopTurns.wait { told.results.count == 2 })
        #expect(record.events == ["told", "prepares nothing", "told"])
        #expect(stage.paintable.transitionProgress != nil && stage.paintable.content == nil)
        stage.window.close()
    }

    @Test(arguments: ViewKind.allCases)
    func `A newer load during the transition completes all callers once`(kind: ViewKind) async throws {
        let stage = try await stage(kind)
        stage.view.imageTransition = transition(60)
        set(stage.view, a, [.delayPlaceholder, .waitTransition], placeholder: .image(try green()))
        try await fail(a)
        #expect(await MainLoopTurns.wait { stage.paintable.transitionProgress != nil })
        #expect(record.events == ["prepares nothing"])
        set(stage.view, b, .waitTransition)
        #expect(record.events == ["prepares nothing", "completion false", "told"])
        stage.view.imageTransition = nil
        try #require(await bench.loader.request(of: b))
        bench.loader.end(b, with: .success(ViewBench.blue))
        #expect(await MainLoopTurns.wait { told.results.count == 2 })
        #expect(told.codes == [.invalidDownloadStatusCode, nil])
        #expect(record.events == ["prepares nothing", "completion false", "told", "told"])
        stage.window.close()
    }

    @Test func `A load started by the transition's preparation is shown, and the caller is notified of the failure`()
        async throws
    {
        let stage = try await stage(.picture)
        let (context, b, view, record) = (bench.context, b, stage.view, record)
        var effect = transition(60)
        effect.prepares = { _, _ in
            record.events.append("prepares")
            view.setImage(with: b, context: context, completed: nil)
        }
        stage.view.imageTransition = effect
        set(stage.view, a, [.delayPlaceholder, .waitTransition], placeholder: .image(try green()))
        try await fail(a)
        #expect(await MainLoopTurns.wait { !told.results.isEmpty })
        #expect(record.events == ["prepares", "told"] && told.codes == [.invalidDownloadStatusCode])
        #expect(stage.paintable.transitionProgress == nil && stage.view.imageURL == b)
        stage.window.close()
    }

    @Test(arguments: ViewKind.allCases)
    func `The end of the view completes all callers once`(kind: ViewKind) async throws {
        let before = ViewState.count
        do {
            let stage = try await stage(kind)
            stage.view.imageTransition = transition(60)
            set(stage.view, a, [.delayPlaceholder, .waitTransition], placeholder: .image(try green()))
            try await fail(a)
            #expect(await MainLoopTurns.wait { stage.paintable.transitionProgress != nil })
            stage.window.close()
        }
        #expect(record.events == ["prepares nothing", "completion false", "told"])
        #expect(told.codes == [.invalidDownloadStatusCode])
        #expect(await MainLoopTurns.wait { ViewState.count == before })
    }

    @Test func `A button state that is not displayed takes its placeholder at once`() async throws {
        let stage = try await stage(.button)
        stage.view.imageTransition = transition(60)
        let (green, told) = (try green(), told)
        set(stage.view, b, [])
        try #require(await bench.loader.request(of: b))
        bench.loader.end(b, with: .success(ViewBench.blue))
        #expect(await MainLoopTurns.wait { told.codes == [nil] })
        record.events = []
        stage.paintable.endTransition(finished: false)
        stage.view.setImage(
            with: a,
            in: .image(.insensitive),
            placeholder: .image(green),
            options: [.delayPlaceholder, .waitTransition],
            context: bench.context,
            completed: { told.results.append($0) }
        )
        try await fail(a)
        #expect(await MainLoopTurns.wait { told.results.count == 2 })
        #expect(record.events == ["completion false"] && stage.paintable.transitionProgress == nil)
        gtk_widget_set_sensitive(UnsafeMutableRawPointer(stage.view).widget, 0)
        #expect(stage.paintable.content?.image === green)
        stage.window.close()
    }
}
