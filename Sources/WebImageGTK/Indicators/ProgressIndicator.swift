import CWebImageGTK4
import WebImage

/// A bar at the bottom of the view that shows the progress of the load, in the view's text colour. While the total size is unknown, a
/// segment moves back and forth.
///
/// The bar is drawn together with the image, so it needs no separate widget. It works on any `GtkPicture` and `GtkImage`, also over
/// placeholders and previews. The segment stands still in the middle if the user has turned animations off. Each view needs its own
/// indicator.
@MainActor
public final class ProgressIndicator: WebImageIndicator, DelayedIndicator {
    /// The thickness of the bar in points; 4 by default.
    package var thickness: Double { didSet { driver.invalidate() } }
    /// The seconds that a load must take before the indicator is shown; 0.15 by default. Read when a load begins.
    public var delay: Double {
        get { driver.delay.seconds }
        set { driver.delay.seconds = newValue }
    }
    /// The displayed progress, 0...1; 0 means unknown.
    public private(set) var progress = 0.0
    private(set) lazy var driver = makeDriver()
    private let initialDelay: Double

    /// Creates an indicator for one view.
    ///
    /// - Parameters:
    ///   - thickness: the thickness of the bar in points.
    ///   - delay: the seconds that a load must take before the indicator is shown; 0 shows it at once.
    public init(thickness: Double = 4, delay: Double = 0.15) {
        self.thickness = thickness
        initialDelay = delay
    }

    private func makeDriver() -> OverlayDriver {
        OverlayDriver(delay: initialDelay, isMoving: true) { [weak self] canvas in
            guard let self else { return }
            Self.draw(canvas, progress, thickness: thickness, isStill: !driver.ticks)
        }
    }

    /// A Boolean value that indicates whether the indicator is visible: a load is in progress and has taken longer than ``delay``.
    package var isVisible: Bool { driver.isVisible }

    /// Called by the view.
    ///
    /// - Parameter view: the view that is loading.
    public func startAnimating(in view: UnsafeMutableRawPointer) {
        updateProgress(0)
        driver.begin(in: view)
    }

    /// Called by the view.
    ///
    /// - Parameter progress: 0...1; other values are clamped. 0 is shown as unknown.
    public func updateProgress(_ progress: Double) {
        self.progress = progress.isFinite ? min(max(progress, 0), 1) : 0
        driver.isMoving = self.progress == 0
        driver.invalidate()
    }

    /// Called by the view, or by a program that hides the indicator before the load ends.
    public func stopAnimating() { driver.end() }

    func show() { driver.show() }

    // MARK: Drawing

    /// The margin between the bar and the view's edges, in points.
    private static let margin = 8.0
    /// Seconds for one move back and forth, and the moving part of the bar.
    private static let period = 2.0
    private static let piece = 0.3

    /// Returns the rectangles of the bar and of its filled part; nil if the view is too small.
    static func layout(
        in view: ImageRect,
        _ progress: Double,
        thickness: Double,
        at time: Double,
        isStill: Bool
    ) -> (bar: ImageRect, full: ImageRect)? {
        let margin = min(margin, view.width / 8, view.height / 8).rounded(.down)
        let thickness = min(max(thickness.isFinite ? thickness : 4, 1), view.height - 2 * margin)
        guard thickness >= 1, view.width - 2 * margin >= 4 else { return nil }
        let bar = ImageRect(
            x: view.x + margin,
            y: view.bottom - margin - thickness,
            width: view.width - 2 * margin,
            height: thickness
        )
        guard progress <= 0 else {
            return (bar, ImageRect(x: bar.x, y: bar.y, width: bar.width * progress, height: thickness))
        }
        let part = (time / period).truncatingRemainder(dividingBy: 1)
        let place = isStill ? 0.5 : 1 - abs(1 - 2 * part)
        let width = bar.width * piece
        return (bar, ImageRect(x: bar.x + (bar.width - width) * place, y: bar.y, width: width, height: thickness))
    }

    static func draw(_ canvas: IndicatorCanvas, _ progress: Double, thickness: Double, isStill: Bool) {
        let layout = layout(in: canvas.view, progress, thickness: thickness, at: canvas.time, isStill: isStill)
        guard let layout else { return }
        var outline = GskRoundedRect()
        var bounds = layout.bar.graphene
        gsk_rounded_rect_init_from_rect(&outline, &bounds, Float(layout.bar.height / 2))
        gtk_snapshot_push_rounded_clip(canvas.snapshot, &outline)
        if canvas.isOverContent { canvas.fill(layout.bar, canvas.contrast) }
        canvas.fill(layout.bar, canvas.color(alpha: 0.2))
        canvas.fill(layout.full, canvas.color)
        gtk_snapshot_pop(canvas.snapshot)
    }
}

extension IndicatorCanvas {
    fileprivate func fill(_ rect: ImageRect, _ color: GdkRGBA) {
        var (bounds, color) = (rect.graphene, color)
        if rect.width > 0 { gtk_snapshot_append_color(snapshot, &color, &bounds) }
    }
}
