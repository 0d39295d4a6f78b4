import CWebImageGTK4

/// A widget that is visible while a picture is being loaded, and hidden otherwise.
///
/// It may be anywhere: beside the view, or on another page. If nobody has put it anywhere and the view lies in a `GtkOverlay`, it is put
/// over the view, in the middle unless its alignment says otherwise, for as long as the load takes; there it lets clicks through. A widget
/// that lies nowhere, for a view that lies in no overlay, cannot be shown.
///
/// A `GtkSpinner` spins meanwhile, a `GtkProgressBar` shows the progress, or pulses while it is not known. For one view.
@MainActor
public final class WidgetIndicator: WebImageIndicator, DelayedIndicator {
    /// Seconds that a load takes at least before it is shown; 0.15 by default. Read when a load begins.
    public var delay: Double {
        get { waiting.seconds }
        set { waiting.seconds = newValue }
    }
    /// Called with the progress of the load, 0...1, 0 for what is not known; for widgets that show it in ways of their own. nil by default.
    public var progressHandler: (@MainActor (_ progress: Double) -> Void)?
    /// Whether it is seen: a load is under way and has taken longer than ``delay``.
    public private(set) var isVisible = false

    let waiting: IndicatorDelay
    private let widget: ObjectReference
    private var view: WeakObject?
    /// The overlay it was put into.
    private var overlay: WeakObject?

    /// Takes a widget, for one view. It is hidden at once.
    ///
    /// - Parameters:
    ///   - widget: kept.
    ///   - delay: seconds that a load takes at least before it is shown; 0 shows it at once.
    /// - Precondition: the object is a `GtkWidget`.
    public init(_ widget: any GObjectPointer, delay: Double = 0.15) {
        precondition(widget.gobjectPointer.isA(gtk_widget_get_type()), "not a GtkWidget")
        self.widget = ObjectReference(retaining: widget.gobjectPointer)
        waiting = IndicatorDelay(delay)
        gtk_widget_set_visible(self.widget.pointer.widget, 0)
    }

    /// Called by the view.
    ///
    /// - Parameter view: whose load it is.
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

    /// Called by the view, or by who wants it away before the load ends.
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
