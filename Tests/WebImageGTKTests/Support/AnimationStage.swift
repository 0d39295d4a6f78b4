import CWebImageGTK4
import TestSupport
import Testing
import WebImage

@testable import WebImageGTK

/// A clock that advances when the test says so.
@MainActor
final class VirtualLink: @MainActor AnimationDisplayLink {
    private var tick: ((_ seconds: Double) -> Void)?
    private(set) var now = 100.0

    func start(_ tick: @escaping (_ seconds: Double) -> Void) { self.tick = tick }
    func stop() { tick = nil }

    var isRunning: Bool { tick != nil }

    func advance(_ seconds: Double = 0) {
        now += seconds
        tick?(now)
    }
}

/// A view in a window that plays by a clock of the test.
@MainActor
final class AnimationStage {
    let picture: OpaquePointer
    let view: AnimatedImageView
    let window: TestWindow
    let link = VirtualLink()
    var shown: [Int] = []
    var loops: [Int] = []

    init(_ make: @MainActor () -> OpaquePointer = ViewBench.makeImage) async throws {
        try Display.open()
        picture = make()
        view = AnimatedImageView(picture)
        if UnsafeMutableRawPointer(picture).isA(gtk_picture_get_type()) {
            gtk_picture_set_content_fit(picture, GTK_CONTENT_FIT_SCALE_DOWN)
        }
        window = try await TestWindow(UnsafeMutableRawPointer(picture))
        view.animationFrameHandler = { [weak self] index, _ in self?.shown.append(index) }
        view.animationLoopHandler = { [weak self] in self?.loops.append($0) }
    }

    var state: ViewState { .of(UnsafeMutableRawPointer(picture)) }

    /// Shows an image as a load would.
    func show(_ image: Image?) {
        state.installPaintable()
        state.paintable.show(image.flatMap { PaintableContent($0) })
        takeClock()
    }

    /// Has the current player play by the test's clock.
    func takeClock() { view.player?.displayLink = link }

    /// Waits, without advancing the clock, until a frame has been decoded and is shown.
    func reaches(_ index: Int) async -> Bool {
        let count = shown.count
        return await MainLoopTurns.wait {
            self.link.advance()
            return self.view.currentFrameIndex == index && (self.shown.count > count || self.shown.last == index)
        }
    }

    /// Advances by a frame.
    ///
    /// - Parameter seconds: The time that passes; by default the duration of the displayed frame.
    func plays(to index: Int, after seconds: Double? = nil) async -> Bool {
        link.advance(seconds ?? view.player?.provider.duration(at: view.currentFrameIndex) ?? 0)
        return await reaches(index)
    }

    /// The colour in the middle.
    func middle() async throws -> [UInt8] {
        await window.frames()
        return try window.pixels(of: UnsafeMutableRawPointer(picture)).middle
    }
}
