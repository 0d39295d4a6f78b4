import CWebImageGTK4
import WebImage
import WebImageGTK

/// What is known of a picture, and how it was loaded.
@MainActor
final class FactsPanel {
    let widget: Widget
    private let list: Widget
    private let explanation = Make.label(classes: "dim-label")
    private let title = Make.label(classes: "heading")

    init() {
        list = Make.required(gtk_grid_new())
        gtk_grid_set_row_spacing(list.cast(), 4)
        gtk_grid_set_column_spacing(list.cast(), 12)
        for label in [explanation, title] {
            gtk_label_set_wrap(label.opaque, 1)
            gtk_label_set_wrap_mode(label.opaque, PANGO_WRAP_WORD_CHAR)
            gtk_label_set_max_width_chars(label.opaque, 32)
            gtk_label_set_selectable(label.opaque, 1)
            // Else the first of them would have the keyboard, with all its text marked.
            gtk_widget_set_can_focus(label, 0)
        }
        let box = Make.box(
            GTK_ORIENTATION_VERTICAL,
            spacing: 12,
            title,
            list,
            Make.label("How it was loaded", classes: "heading"),
            explanation
        )
        box.margins(12)
        widget = Make.required(gtk_scrolled_window_new())
        gtk_scrolled_window_set_policy(widget.opaque, GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC)
        gtk_scrolled_window_set_child(widget.opaque, box)
        gtk_widget_set_size_request(widget, 280, -1)
        gtk_widget_add_css_class(widget, "facts")
    }

    func toggle() { gtk_widget_set_visible(widget, gtk_widget_get_visible(widget) == 0 ? 1 : 0) }

    func clear(_ item: PictureItem) {
        gtk_label_set_text(title.opaque, item.title)
        gtk_label_set_text(explanation.opaque, "")
        while let child = gtk_widget_get_first_child(list) { gtk_grid_remove(list.cast(), child) }
    }

    func show(_ result: WebImageResult, explanation text: String) {
        let (image, metadata) = (result.image, result.image.metadata)
        let source = image.uprightSourceSize
        var facts = [
            ("Format", image.format.description),
            ("Size", "\(Int(source.width)) × \(Int(source.height)) pixels"),
            ("Decoded", "\(image.pixelWidth) × \(image.pixelHeight) pixels"),
        ]
        if metadata.isAnimated {
            facts.append(("Frames", "\(metadata.frameCount)"))
            facts.append(("Loops", metadata.loopCount == 0 ? "for ever" : "\(metadata.loopCount)"))
        }
        facts.append(("Alpha", image.hasAlpha ? "yes" : "no"))
        if let profile = metadata.colorProfile { facts.append(("Colours", profile)) }
        if let data = result.data { facts.append(("File", ByteCount.text(data.count))) }
        facts.append(("In memory", ByteCount.text(image.memoryCost)))
        facts.append(("From", result.cacheType.place))
        show(facts, text)
    }

    func show(_ error: WebImageError, explanation text: String) {
        show([("Error", "\(error.code.rawValue)")], text)
    }

    private func show(_ facts: [(String, String)], _ text: String) {
        while let child = gtk_widget_get_first_child(list) { gtk_grid_remove(list.cast(), child) }
        for (row, fact) in facts.enumerated() {
            let value = Make.label(fact.1)
            gtk_label_set_wrap(value.opaque, 1)
            gtk_label_set_max_width_chars(value.opaque, 20)
            gtk_grid_attach(list.cast(), Make.label(fact.0, classes: "dim-label"), 0, Int32(row), 1, 1)
            gtk_grid_attach(list.cast(), value, 1, Int32(row), 1, 1)
        }
        gtk_label_set_text(explanation.opaque, text)
    }
}

extension ImageCacheType {
    /// Where a picture came from, in a word.
    fileprivate var place: String {
        switch self {
        case .memory: "memory"
        case .disk: "disk"
        default: "its source"
        }
    }
}
