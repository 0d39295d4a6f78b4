import CWebImageGTK4
import WebImage

/// What an indicator is drawn with.
@MainActor
struct IndicatorCanvas {
    /// A `GtkSnapshot`.
    let snapshot: OpaquePointer
    /// Where the view is.
    let view: ImageRect
    /// Seconds since it was shown; 0 when nothing may move.
    let time: Double
    /// That of the view's text.
    let color: GdkRGBA
    /// Whether it lies over a picture, which may have that colour.
    let isOverContent: Bool

    /// As unlike the colour as can be, and half transparent.
    var contrast: GdkRGBA {
        let light = 0.2126 * color.red + 0.7152 * color.green + 0.0722 * color.blue
        let gray: Float = light > 0.5 ? 0 : 1
        return GdkRGBA(red: gray, green: gray, blue: gray, alpha: 0.6)
    }

    /// The colour, more transparent.
    func color(alpha: Float) -> GdkRGBA {
        GdkRGBA(red: color.red, green: color.green, blue: color.blue, alpha: color.alpha * alpha)
    }
}

/// Draws an indicator over what a view shows: waits before, has it drawn for each frame while it moves and the view is on the screen, and
/// takes it away.
@MainActor
final class OverlayDriver {
    /// Draws it.
    private let draw: @MainActor (IndicatorCanvas) -> Void
    let delay: IndicatorDelay
    /// Whether it moves.
    var isMoving: Bool { didSet { update() } }
    private(set) var isVisible = false

    private weak var state: ViewState?
    private var tick: Int?
    /// Whether it is told the time.
    var ticks: Bool { tick != nil }
    /// The first reading of the clock since it was shown, and the last.
    private var start: Double?
    private var now = 0.0

    init(delay: Double, isMoving: Bool, draw: @escaping @MainActor (IndicatorCanvas) -> Void) {
        self.delay = IndicatorDelay(delay)
        self.isMoving = isMoving
        self.draw = draw
    }

    /// Begins to wait; nothing if it was begun for the view already.
    func begin(in view: UnsafeMutableRawPointer) {
        let state = ViewState.of(view).stateOfPicture
        if self.state !== state { end() }
        self.state = state
        guard !isVisible else { return }
        delay.begin { [weak self] in self?.show() }
    }

    /// Shows it now, if it was begun.
    func show() {
        delay.cancel()
        guard !isVisible, let state else { return }
        isVisible = true
        (start, now) = (nil, 0)
        state.takeOverContent()
        state.paintable.overlay = { [weak self] snapshot, view in self?.draw(into: snapshot, view) }
        update()
    }

    /// Takes it away.
    func end() {
        delay.cancel()
        if isVisible { state?.existingPaintable?.overlay = nil }
        isVisible = false
        update()
        state = nil
    }

    /// It looks different.
    func invalidate() {
        if isVisible { state?.existingPaintable?.invalidate() }
    }

    /// Goes on to a reading of the clock.
    func advance(to seconds: Double) {
        let start = start ?? seconds
        self.start = start
        now = max(seconds - start, 0)
        invalidate()
    }

    private func update() {
        let shouldTick = isVisible && isMoving && state.map { ViewSettings.areAnimationsEnabled(for: $0.view) } ?? false
        if shouldTick, tick == nil {
            tick = state?.clock.add { [weak self] in self?.advance(to: $0) }
        } else if !shouldTick, let tick {
            state?.clock.remove(tick)
            self.tick = nil
        }
    }

    private func draw(into snapshot: OpaquePointer, _ view: ImageRect) {
        guard let state else { return }
        draw(
            IndicatorCanvas(
                snapshot: snapshot,
                view: view,
                time: now,
                color: ViewSettings.textColor(of: state.view),
                isOverContent: state.paintable.content != nil
            )
        )
    }
}
