import CWebImageGTK4

/// A widget that is visible while an image is being loaded, and hidden otherwise.
///
/// The widget can be anywhere: beside the view, or on another page. If it has no parent and the view is a child of a `GtkOverlay`, it is
/// added to the overlay while a load is in progress, centred unless its alignment says otherwise, and lets clicks through. A widget without
/// a parent cannot be shown for a view outside an overlay.
///
/// A `GtkSpinner` spins during the load. A `GtkProgressBar` shows the progress, or pulses while it is unknown. Each view needs its own
/// indicator.
@MainActor
public final class WidgetIndicator: WebImageIndicator, DelayedIndicator {
    /// The seconds that a load must take before the widget is shown; 0.15 by default. Read when a load begins.
    public var delay: Double {
        get { waiting.seconds }
        set { waiting.seconds = newValue }
    }
    /// Called with the progress of the load, 0...1, 0 if unknown, for widgets that show progress in another way. nil by default.
    public var progressHandler: (@MainActor (_ progress: Double) -> Void)?
    /// A Boolean value that indicates whether the widget is visible: a load is in progress and has taken longer than ``delay``.
    package private(set) var isVisible = false

    let waiting: IndicatorDelay
    private let widget: ObjectReference
    private var view: WeakObject?
    /// The overlay that the widget was added to.
    private var overlay: WeakObject?

    /// Creates an indicator from a widget, for one view. The widget is hidden at once.
    ///
    /// - Parameters:
    ///   - widget: the widget; retained.
    ///   - delay: the seconds that a load must take before the widget is shown; 0 shows it at once.
    /// - Precondition: the object is a `GtkWidget`.
    public init(_ widget: any GObjectPointer, delay: Double = 0.15) {
        precondition(widget.gobjectPointer.isA(gtk_widget_get_type()), "not a GtkWidget")
        self.widget = ObjectReference(retaining: widget.gobjectPointer)
        waiting = IndicatorDelay(delay)
        gtk_widget_set_visible(self.widget.pointer.widget, 0)
    }

    /// Called by the view.
    ///
    /// - Parameter view: the view that is loading.
    public func startAnimating(in view: UnsafeMutableRawPointer) {
        if self.view?.pointer != view {
            stopAnimating()
            self.view = WeakObject(view)
        }
        updateProgress(0)
        guard !isVisible else { return }
        waiting.begin { [weak self] in self?.show() }
    }

    /// Called by the view.
    ///
    /// - Parameter progress: 0...1.
    public func updateProgress(_ progress: Double) {
        progressHandler?(progress)
        guard widget.pointer.isA(gtk_progress_bar_get_type()) else { return }
        if progress > 0 {
            gtk_progress_bar_set_fraction(widget.pointer.opaque, min(progress, 1))
        } else {
            gtk_progress_bar_pulse(widget.pointer.opaque)
        }
    }

    /// Called by the view, or by a program that hides the indicator before the load ends.
    public func stopAnimating() {
        waiting.cancel()
        view = nil
        guard isVisible else { return }
        isVisible = false
        if widget.pointer.isA(gtk_spinner_get_type()) { gtk_spinner_stop(widget.pointer.opaque) }
        gtk_widget_set_visible(widget.pointer.widget, 0)
        let parent = gtk_widget_get_parent(widget.pointer.widget).map { UnsafeMutableRawPointer($0) }
        if let overlay = overlay?.pointer, overlay == parent {
            gtk_overlay_remove_overlay(overlay.opaque, widget.pointer.widget)
        }
        overlay = nil
    }

    func show() {
        waiting.cancel()
        guard !isVisible, let view = view?.pointer else { return }
        isVisible = true
        if gtk_widget_get_parent(widget.pointer.widget) == nil { put(over: view) }
        gtk_widget_set_visible(widget.pointer.widget, 1)
        if widget.pointer.isA(gtk_spinner_get_type()) { gtk_spinner_start(widget.pointer.opaque) }
    }

    private func put(over view: UnsafeMutableRawPointer) {
        let widget = widget.pointer.widget
        guard let parent = gtk_widget_get_parent(view.widget).map({ UnsafeMutableRawPointer($0) }),
            parent.isA(gtk_overlay_get_type()), !UnsafeMutableRawPointer(widget).isA(gtk_root_get_type())
        else { return }
        if gtk_widget_get_halign(widget) == GTK_ALIGN_FILL { gtk_widget_set_halign(widget, GTK_ALIGN_CENTER) }
        if gtk_widget_get_valign(widget) == GTK_ALIGN_FILL { gtk_widget_set_valign(widget, GTK_ALIGN_CENTER) }
        gtk_widget_set_can_target(widget, 0)
        gtk_overlay_add_overlay(parent.opaque, widget)
        overlay = WeakObject(parent)
    }
}
