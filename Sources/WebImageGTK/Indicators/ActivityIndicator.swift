import CWebImageGTK4
import Glibc
import WebImage

/// A spinner in the middle of the view, in the view's text colour.
///
/// The spinner is drawn together with the image, so it needs no separate widget. It works on any `GtkPicture` and `GtkImage`, also over
/// placeholders and previews. It stands still if the user has turned animations off. Each view needs its own indicator; a moving one costs
/// a small drawing per frame while the view is on the screen.
@MainActor
public final class ActivityIndicator: WebImageIndicator, DelayedIndicator {
    /// The size of the spinner.
    public enum Size: Sendable, Hashable, CaseIterable {
        /// 16 points.
        case small
        /// 32 points.
        case medium
        /// 48 points.
        case large

        /// The diameter in points. In a smaller view, the spinner is smaller, too.
        package var diameter: Double {
            switch self {
            case .small: 16
            case .medium: 32
            case .large: 48
            }
        }
    }

    /// The size of the spinner; ``Size/medium`` by default.
    public let size: Size
    /// The seconds that a load must take before the indicator is shown; 0.15 by default. Read when a load begins.
    public var delay: Double {
        get { driver.delay.seconds }
        set { driver.delay.seconds = newValue }
    }
    let driver: OverlayDriver

    /// Creates an indicator for one view.
    ///
    /// - Parameters:
    ///   - size: the size of the spinner.
    ///   - delay: the seconds that a load must take before the indicator is shown; 0 shows it at once.
    public init(size: Size = .medium, delay: Double = 0.15) {
        self.size = size
        driver = OverlayDriver(delay: delay, isMoving: true) { Self.draw($0, size) }
    }

    /// A new spinner of 16 points.
    public static var small: ActivityIndicator { ActivityIndicator(size: .small) }
    /// A new spinner of 32 points.
    public static var medium: ActivityIndicator { ActivityIndicator(size: .medium) }
    /// A new spinner of 48 points.
    public static var large: ActivityIndicator { ActivityIndicator(size: .large) }

    /// A Boolean value that indicates whether the indicator is visible: a load is in progress and has taken longer than ``delay``.
    package var isVisible: Bool { driver.isVisible }

    /// Called by the view.
    ///
    /// - Parameter view: the view that is loading.
    public func startAnimating(in view: UnsafeMutableRawPointer) { driver.begin(in: view) }

    /// Called by the view; does nothing.
    ///
    /// - Parameter progress: ignored.
    public func updateProgress(_ progress: Double) {}

    /// Called by the view, or by a program that hides the indicator before the load ends.
    public func stopAnimating() { driver.end() }

    func show() { driver.show() }

    // MARK: Drawing

    /// Seconds per turn, and the moving part of the ring.
    private static let turn = 1.0
    private static let piece = 0.3
    /// The width of the ring and of the plate below it, relative to the diameter.
    private static let thickness = 0.125
    private static let plate = 1.4

    static func draw(_ canvas: IndicatorCanvas, _ size: Size) {
        let view = canvas.view
        let diameter = min(size.diameter, min(view.width, view.height) / plate)
        guard diameter >= 4 else { return }
        let middle = (x: view.x + view.width / 2, y: view.y + view.height / 2)
        let reach = (diameter * plate / 2).rounded(.up)
        var bounds = ImageRect(x: middle.x - reach, y: middle.y - reach, width: reach * 2, height: reach * 2).graphene
        guard let cairo = gtk_snapshot_append_cairo(canvas.snapshot, &bounds) else { return }
        defer { cairo_destroy(cairo) }
        if canvas.isOverContent {
            cairo.setColor(canvas.contrast)
            cairo_arc(cairo, middle.x, middle.y, diameter * plate / 2, 0, 2 * Double.pi)
            cairo_fill(cairo)
        }
        let width = diameter * thickness
        cairo_set_line_width(cairo, width)
        cairo.setColor(canvas.color(alpha: 0.2))
        cairo_arc(cairo, middle.x, middle.y, (diameter - width) / 2, 0, 2 * Double.pi)
        cairo_stroke(cairo)
        cairo_set_line_cap(cairo, CAIRO_LINE_CAP_ROUND)
        cairo.setColor(canvas.color)
        let begin = ((canvas.time / turn).truncatingRemainder(dividingBy: 1) - 0.25) * 2 * Double.pi
        cairo_arc(cairo, middle.x, middle.y, (diameter - width) / 2, begin, begin + piece * 2 * Double.pi)
        cairo_stroke(cairo)
    }
}

extension OpaquePointer {
    /// Sets the source colour of a cairo context.
    fileprivate func setColor(_ color: GdkRGBA) {
        cairo_set_source_rgba(self, Double(color.red), Double(color.green), Double(color.blue), Double(color.alpha))
    }
}
