import CWebImageGTK4

/// A bar above the pages that reports errors until it is closed.
@MainActor
final class NoticeBar {
    let widget: Widget
    private let label = Make.label()
    private static let mostLines = 3

    init() {
        // One line per message, ellipsized in the middle: paths differ at their ends.
        gtk_label_set_ellipsize(label.opaque, PANGO_ELLIPSIZE_MIDDLE)
        gtk_widget_set_hexpand(label, 1)
        widget = Make.box(GTK_ORIENTATION_HORIZONTAL, spacing: 12, label)
        gtk_widget_add_css_class(widget, "notice")
        let close = Make.button(icon: "window-close-symbolic", "Close this notice") { [weak self] in self?.show([]) }
        gtk_widget_set_valign(close, GTK_ALIGN_START)
        gtk_box_append(widget.cast(), close)
        gtk_widget_set_visible(widget, 0)
    }

    /// Shows the first few messages; hides the bar if there are none.
    func show(_ lines: [String]) {
        let isShown = !lines.isEmpty
        if isShown {
            var shown = lines.prefix(Self.mostLines).map { PlainText.line($0, most: 300) }
            if lines.count > Self.mostLines { shown.append("… and \(lines.count - Self.mostLines) more") }
            gtk_label_set_text(label.opaque, shown.joined(separator: "\n"))
            gtk_widget_set_tooltip_text(label, shown.joined(separator: "\n"))
        }
        gtk_widget_set_visible(widget, isShown ? 1 : 0)
    }

    /// The displayed text; nil if the bar is hidden.
    var text: String? {
        gtk_widget_get_visible(widget) == 0 ? nil : String(cString: gtk_label_get_text(label.opaque))
    }
}
