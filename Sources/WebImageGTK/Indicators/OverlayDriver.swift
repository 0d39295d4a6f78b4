import CWebImageGTK4
import WebImage

/// The drawing context of an indicator.
@MainActor
struct IndicatorCanvas {
    /// A `GtkSnapshot`.
    let snapshot: OpaquePointer
    /// The rectangle of the view.
    let view: ImageRect
    /// Seconds since the indicator was shown; 0 if animations are off.
    let time: Double
    /// The text colour of the view.
    let color: GdkRGBA
    /// True if the indicator is drawn over an image, which may have that colour.
    let isOverContent: Bool

    /// Black or white, whichever contrasts with the colour, partly transparent.
    var contrast: GdkRGBA {
        let light = 0.2126 * color.red + 0.7152 * color.green + 0.0722 * color.blue
        let gray: Float = light > 0.5 ? 0 : 1
        return GdkRGBA(red: gray, green: gray, blue: gray, alpha: 0.6)
    }

    /// Returns the colour with its alpha multiplied.
    func color(alpha: Float) -> GdkRGBA {
        GdkRGBA(red: color.red, green: color.green, blue: color.blue, alpha: color.alpha * alpha)
    }
}

/// Draws an indicator over the content of a view: shows it after the delay, redraws it for each frame while it moves and the view is on the
/// screen, and removes it.
@MainActor
final class OverlayDriver {
    private let draw: @MainActor (IndicatorCanvas) -> Void
    let delay: IndicatorDelay
    /// True if the indicator is animated.
    var isMoving: Bool { didSet { update() } }
    private(set) var isVisible = false

    private weak var state: ViewState?
    private var tick: Int?
    /// True if it receives ticks of the frame clock.
    var ticks: Bool { tick != nil }
    /// The frame time of the first tick since the indicator was shown, and the seconds that have passed since then.
    private var start: Double?
    private var now = 0.0

    init(delay: Double, isMoving: Bool, draw: @escaping @MainActor (IndicatorCanvas) -> Void) {
        self.delay = IndicatorDelay(delay)
        self.isMoving = isMoving
        self.draw = draw
    }

    /// Starts the delay; does nothing if it was started for the view already.
    func begin(in view: UnsafeMutableRawPointer) {
        let state = ViewState.of(view).imageState
        if self.state !== state { end() }
        self.state = state
        guard !isVisible else { return }
        delay.begin { [weak self] in self?.show() }
    }

    /// Shows the indicator now, if it was started.
    func show() {
        delay.cancel()
        guard !isVisible, let state else { return }
        isVisible = true
        (start, now) = (nil, 0)
        state.takeOverContent()
        state.paintable.overlay = { [weak self] snapshot, view in self?.draw(into: snapshot, view) }
        update()
    }

    /// Hides the indicator.
    func end() {
        delay.cancel()
        if isVisible { state?.existingPaintable?.overlay = nil }
        isVisible = false
        update()
        state = nil
    }

    /// Redraws the indicator after a change.
    func invalidate() {
        if isVisible { state?.existingPaintable?.invalidate() }
    }

    /// Advances the animation to a frame time.
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
