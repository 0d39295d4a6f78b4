import CWebImageGTK4
import FoundationEssentials
import Testing
import WebImage

@testable import WebImageGTK

/// The progress of a transition as a function of time.
@Suite(.serialized) @MainActor struct TransitionTimingTests {
    nonisolated static let curves: [(timing: WebImageTransition.Timing, progress: [Double])] = [
        (.linear, [0, 0.25, 0.5, 0.75, 1]),
        (.easeIn, [0, 0.0625, 0.25, 0.5625, 1]),
        (.easeOut, [0, 0.4375, 0.75, 0.9375, 1]),
        (.easeInOut, [0, 0.125, 0.5, 0.875, 1]),
    ]

    private func make(_ duration: Double, _ timing: WebImageTransition.Timing = .linear) -> RunningTransition {
        RunningTransition(WebImageTransition(duration: duration, timing: timing) { _ in })
    }

    @Test func `Each curve goes from 0 to 1 in its own way, and no further`() {
        #expect(Set(Self.curves.map(\.timing)) == Set(WebImageTransition.Timing.allCases))
        for (timing, progress) in Self.curves {
            for (quarter, expected) in progress.enumerated() {
                #expect(WebImageTransition.progress(timing, at: Double(quarter) / 4) == expected, "\(timing)")
            }
            #expect(WebImageTransition.progress(timing, at: -1) == 0, "\(timing)")
            #expect(WebImageTransition.progress(timing, at: 2) == 1, "\(timing)")
        }
    }

    @Test func `The first reading of the clock is the beginning, and the transition ends the duration later`() {
        var running = make(2)
        #expect(running.progress == 0 && !running.isOver && running.start == nil)
        running.update(at: 10)
        #expect(running.progress == 0 && !running.isOver && running.start == 10)
        running.update(at: 11)
        #expect(running.progress == 0.5 && !running.isOver)
        running.update(at: .nan)
        #expect(running.progress == 0.5 && !running.isOver)
        running.update(at: 12)
        #expect(running.progress == 1 && running.isOver)
        running.update(at: 10)
        #expect(running.progress == 1 && running.isOver)
    }

    @Test func `The animation uses the transition's curve`() {
        for (timing, progress) in Self.curves {
            var running = make(4, timing)
            for (quarter, expected) in progress.enumerated() {
                running.update(at: 100 + Double(quarter))
                #expect(running.progress == expected, "\(timing)")
            }
        }
    }

    @Test func `A custom transition takes half a second, and eases in and out`() {
        let own = WebImageTransition { _ in }
        #expect(own.duration == 0.5 && own.timing == .easeInOut && !own.avoidAutoSetImage)
    }

    nonisolated static let byName: [(name: String, effect: WebImageTransition)] = [
        ("fade", .fade), ("flipFromLeft", .flipFromLeft), ("flipFromRight", .flipFromRight),
        ("flipFromTop", .flipFromTop), ("flipFromBottom", .flipFromBottom), ("curlUp", .curlUp),
        ("curlDown", .curlDown),
        ("slideFromLeft", .slideFromLeft), ("slideFromRight", .slideFromRight), ("slideFromTop", .slideFromTop),
        ("slideFromBottom", .slideFromBottom), ("zoom", .zoom),
    ]

    @Test func `Transitions without a duration take half a second, and draw the same as those with one`() throws {
        #expect(Self.byName.map(\.name) == Effects.names)
        let whole = ImageRect(x: 0, y: 0, width: 40, height: 20)
        let (old, new) = (try Quarters.old(isOpaque: true), try Quarters.new(isOpaque: true))
        func draw(_ effect: WebImageTransition) throws -> Drawing {
            try TransitionMoment.draw(
                effect,
                0.3,
                in: ImageSize(width: 40, height: 20),
                old: (old, whole),
                new: (new, whole)
            )
        }
        var drawings: [Drawing] = []
        for (name, effect) in Self.byName {
            #expect(effect.duration == 0.5 && effect.timing == .easeInOut, "\(name)")
            #expect(effect.prepares == nil && effect.completion == nil && !effect.avoidAutoSetImage, "\(name)")
            let drawing = try draw(effect)
            // Not within the expectations: they would print all pixels.
            let (isSame, isKnown) = (try drawing == draw(Effects.named(name, duration: 7)), drawings.contains(drawing))
            #expect(isSame, "\(name)")
            #expect(!isKnown, "\(name) looks as another one does")
            #expect(Effects.named(name, duration: 7).duration == 7, "\(name)")
            drawings.append(drawing)
        }
    }
}

/// The same on a widget.
@Suite(.serialized, .needsDisplay) @MainActor struct TransitionFramesTests {
    /// The drawn progress, and the time of the frame in seconds.
    @MainActor private final class Record {
        var moments: [(progress: Double, time: Double)] = []
    }

    private func frameTime(_ widget: UnsafeMutableRawPointer) -> Double {
        guard let clock = gtk_widget_get_frame_clock(widget.widget) else { return .nan }
        return Double(gdk_frame_clock_get_frame_time(clock)) / 1e6
    }

    @Test func `Each frame shows the progress of its time`() async throws {
        try Display.open()
        let view = UnsafeMutableRawPointer(ViewBench.makeImage())
        let window = try await TestWindow(view)
        let state = ViewState.of(view)
        state.installPaintable()
        let record = Record()
        // Long, so that a busy machine draws it often enough, too; the test waits for some of its frames.
        let duration = 30.0
        let effect = WebImageTransition(duration: duration, timing: .linear) { moment in
            record.moments.append((moment.progress, frameTime(view)))
        }
        state.paintable.show(PaintableContent(try Quarters.new()), by: effect) { _ in }
        #expect(await MainLoopTurns.wait { Set(record.moments.map(\.progress)).count >= 5 })
        let moments = record.moments
        #expect(moments.first?.progress == 0)
        // It may be drawn at 0 before the frame in which it begins.
        let start = try #require(moments.last { $0.progress == 0 }?.time)
        for (progress, time) in moments where progress > 0 {
            #expect(abs(progress - (time - start) / duration) < 1e-6)
        }
        #expect(zip(moments, moments.dropFirst()).allSatisfy { $0.progress <= $1.progress })
        #expect(moments.allSatisfy { $0.progress < 1 } && state.paintable.transitionProgress != nil)
        window.close()
    }
}
