import CWebImageGTK4
import Glibc
import WebImage

/// A ring in the middle of the view with a piece of it going round, in the colour that text has there.
///
/// It is drawn with the picture, so it needs no widget of its own and works on any `GtkPicture` and `GtkImage`, over placeholders and
/// previews too. When the user has turned animations off it stands still. For one view; a moving one costs a small drawing per frame
/// while the view is on the screen.
@MainActor
public final class ActivityIndicator: WebImageIndicator, DelayedIndicator {
    /// How big it is.
    public enum Size: Sendable, Hashable, CaseIterable {
        /// 16 points.
        case small
        /// 32 points.
        case medium
        /// 48 points.
        case large

        /// From side to side, in points. In a view that is smaller than that it is smaller too.
        public var diameter: Double {
            switch self {
            case .small: 16
            case .medium: 32
            case .large: 48
            }
        }
    }

    /// How big it is; ``Size/medium`` by default.
    public let size: Size
    /// Seconds that a load takes at least before it is shown; 0.15 by default. Read when a load begins.
    public var delay: Double {
        get { driver.delay.seconds }
        set { driver.delay.seconds = newValue }
    }
    let driver: OverlayDriver

    /// Makes one, for one view.
    ///
    /// - Parameters:
    ///   - size: how big it is.
    ///   - delay: seconds that a load takes at least before it is shown; 0 shows it at once.
    public init(size: Size = .medium, delay: Double = 0.15) {
        self.size = size
        driver = OverlayDriver(delay: delay, isMoving: true) { Self.draw($0, size) }
    }

    /// A new one of 16 points.
    public static var small: ActivityIndicator { ActivityIndicator(size: .small) }
    /// A new one of 32 points.
    public static var medium: ActivityIndicator { ActivityIndicator(size: .medium) }
    /// A new one of 48 points.
    public static var large: ActivityIndicator { ActivityIndicator(size: .large) }

    /// Whether it is seen: a load is under way and has taken longer than ``delay``.
    public var isVisible: Bool { driver.isVisible }

    /// Called by the view.
    ///
    /// - Parameter view: whose load it is.
    public func startAnimating(in view: UnsafeMutableRawPointer) { driver.begin(in: view) }

    /// Called by the view; nothing happens.
    ///
    /// - Parameter progress: not looked at.
    public func updateProgress(_ progress: Double) {}

    /// Called by the view, or by who wants it away before the load ends.
    public func stopAnimating() { driver.end() }

    func show() { driver.show() }

    // MARK: Drawing

    /// Seconds of a turn, and the part of the ring that goes round.
    private static let turn = 1.0
    private static let piece = 0.3
    /// How thick the ring is and how wide what lies below it, as parts of its diameter.
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
    /// Of a cairo context.
    fileprivate func setColor(_ color: GdkRGBA) {
        cairo_set_source_rgba(self, Double(color.red), Double(color.green), Double(color.blue), Double(color.alpha))
    }
}
