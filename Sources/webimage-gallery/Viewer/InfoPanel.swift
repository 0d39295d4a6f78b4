import CWebImageGTK4
import WebImage
import WebImageGTK

/// Information about an image and its load.
@MainActor
final class InfoPanel {
    let widget: Widget
    private let list: Widget
    private let explanation = Make.label(classes: "dim-label")
    private let title = Make.label(classes: "heading")
    private static let width: Int32 = 280

    init() {
        list = Make.required(gtk_grid_new())
        gtk_grid_set_row_spacing(list.cast(), 4)
        gtk_grid_set_column_spacing(list.cast(), 12)
        for label in [explanation, title] {
            Make.wrap(label, at: 32)
            gtk_label_set_selectable(label.opaque, 1)
        }
        let box = Make.box(
            GTK_ORIENTATION_VERTICAL,
            spacing: 12,
            title,
            list,
            Make.label("Load details", classes: "heading"),
            explanation
        )
        box.margins(12)
        widget = Make.required(gtk_scrolled_window_new())
        gtk_scrolled_window_set_policy(widget.opaque, GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC)
        gtk_scrolled_window_set_child(widget.opaque, box)
        gtk_widget_set_size_request(widget, Self.width, -1)
        gtk_widget_add_css_class(widget, "facts")
    }

    func toggle() { gtk_widget_set_visible(widget, gtk_widget_get_visible(widget) == 0 ? 1 : 0) }

    /// The width that the panel takes from the page, in points.
    var width: Double { gtk_widget_get_visible(widget) == 0 ? 0 : Double(Self.width) }

    /// Clears the panel for another image.
    func clear(_ item: ImageItem) {
        gtk_label_set_text(title.opaque, item.title)
        show([], "")
    }

    /// - Parameters:
    ///   - result: the result of the load.
    ///   - image: the image that is shown now.
    func show(_ result: WebImageResult, _ image: Image, _ recording: LoadRecording) {
        let (source, metadata) = (image.uprightSourceSize, image.metadata)
        var facts = [
            ("Format", image.format.description),
            ("Size", "\(Int(clamping: source.width)) × \(Int(clamping: source.height)) pixels"),
            ("Decoded", "\(image.pixelWidth) × \(image.pixelHeight) pixels"),
        ]
        if metadata.isAnimated {
            facts.append(("Frames", "\(metadata.frameCount)"))
            facts.append(("Loops", metadata.loopCount == 0 ? "infinite" : "\(metadata.loopCount)"))
        }
        facts.append(("Alpha", image.hasAlpha ? "yes" : "no"))
        if let profile = metadata.colorProfile { facts.append(("Colour profile", PlainText.line(profile, most: 80))) }
        if let count = result.data?.count ?? recording.byteCount { facts.append(("File size", ByteCount.text(count))) }
        facts.append(("Memory size", ByteCount.text(image.memoryCost)))
        facts.append(("Loaded from", result.cacheType.place))
        show(facts, recording.explanation)
    }

    func show(_ error: WebImageError, explanation text: String) {
        show([("Error code", "\(error.code.rawValue)"), ("Reason", PlainText.line(error.message, most: 300))], text)
    }

    private func show(_ facts: [(String, String)], _ text: String) {
        while let child = gtk_widget_get_first_child(list) { gtk_grid_remove(list.cast(), child) }
        for (row, fact) in facts.enumerated() {
            let value = Make.label(fact.1)
            Make.wrap(value, at: 20)
            gtk_label_set_selectable(value.opaque, 1)
            let name = Make.label(fact.0, classes: "dim-label")
            gtk_widget_set_valign(name, GTK_ALIGN_START)
            gtk_grid_attach(list.cast(), name, 0, Int32(row), 1, 1)
            gtk_grid_attach(list.cast(), value, 1, Int32(row), 1, 1)
        }
        gtk_label_set_text(explanation.opaque, PlainText.lines(text, most: 600))
    }
}

extension LoadRecording {
    /// The size of the encoded image, as far as the events contain it.
    fileprivate var byteCount: Int? {
        for event in events.reversed() {
            switch event.kind {
            case .decoded(_, _, let count, _), .downloaded(let count, _), .diskHit(_, let count): return count
            default: continue
            }
        }
        return nil
    }
}

extension Int {
    /// Converts an untrusted number of pixels.
    fileprivate init(clamping value: Double) { self = value.isFinite ? Int(Swift.min(Swift.max(value, 0), 1e15)) : 0 }
}

extension ImageCacheType {
    /// The name of the place that the image was loaded from.
    fileprivate var place: String {
        switch self {
        case .memory: "memory cache"
        case .disk: "disk cache"
        default: "source"
        }
    }
}
