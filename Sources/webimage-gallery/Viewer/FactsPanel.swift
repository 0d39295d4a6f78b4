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
            Make.label("How it was loaded", classes: "heading"),
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

    /// What it takes of a page's width, in points.
    var width: Double { gtk_widget_get_visible(widget) == 0 ? 0 : Double(Self.width) }

    /// Another picture is wanted; nothing is known of it.
    func clear(_ item: PictureItem) {
        gtk_label_set_text(title.opaque, item.title)
        show([], "")
    }

    /// - Parameters:
    ///   - result: how it came.
    ///   - image: what is shown of it now.
    func show(_ result: WebImageResult, _ image: Image, _ recording: LoadRecording) {
        let (source, metadata) = (image.uprightSourceSize, image.metadata)
        var facts = [
            ("Format", image.format.description),
            ("Size", "\(Int(clamping: source.width)) × \(Int(clamping: source.height)) pixels"),
            ("Decoded", "\(image.pixelWidth) × \(image.pixelHeight) pixels"),
        ]
        if metadata.isAnimated {
            facts.append(("Frames", "\(metadata.frameCount)"))
            facts.append(("Loops", metadata.loopCount == 0 ? "for ever" : "\(metadata.loopCount)"))
        }
        facts.append(("Alpha", image.hasAlpha ? "yes" : "no"))
        if let profile = metadata.colorProfile { facts.append(("Colours", PlainText.line(profile, most: 80))) }
        if let count = result.data?.count ?? recording.byteCount { facts.append(("File", ByteCount.text(count))) }
        facts.append(("In memory", ByteCount.text(image.memoryCost)))
        facts.append(("From", result.cacheType.place))
        show(facts, recording.explanation)
    }

    func show(_ error: WebImageError, explanation text: String) {
        show([("Error", "\(error.code.rawValue)"), ("Why", PlainText.line(error.message, most: 300))], text)
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
    /// How many bytes the picture was made of, as far as events tell.
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
    /// A number of pixels from outside.
    fileprivate init(clamping value: Double) { self = value.isFinite ? Int(Swift.min(Swift.max(value, 0), 1e15)) : 0 }
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

extension Image {
    /// The upright size of the picture in its file, in pixels.
    var uprightSourceSize: ImageSize {
        let (width, height) = (Double(metadata.sourceWidth), Double(metadata.sourceHeight))
        guard width > 0, height > 0 else { return ImageSize(width: Double(pixelWidth), height: Double(pixelHeight)) }
        let isTurned = metadata.sourceOrientation.swapsSides
        return isTurned ? ImageSize(width: height, height: width) : ImageSize(width: width, height: height)
    }
}
