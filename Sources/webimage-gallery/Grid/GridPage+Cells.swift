import CWebImageGTK4
import WebImage
import WebImageGTK

extension GridPage {
    static let cellWidth: Int32 = 184
    static let cellHeight: Int32 = 138
    static let cellMargin: Int32 = 6

    /// Makes a cell: the image with its name below.
    func makeCell(_ item: OpaquePointer) -> Widget {
        let picture = Make.required(gtk_picture_new())
        gtk_widget_set_size_request(picture, Self.cellWidth, Self.cellHeight)
        picture.imageIndicator = ProgressIndicator()
        let title = Make.label(classes: "caption")
        gtk_label_set_ellipsize(title.opaque, PANGO_ELLIPSIZE_MIDDLE)
        gtk_label_set_max_width_chars(title.opaque, 1)
        gtk_label_set_xalign(title.opaque, 0.5)
        let cell = Make.box(GTK_ORIENTATION_VERTICAL, spacing: 4, picture, title)
        cell.margins(Self.cellMargin)
        gtk_list_item_set_child(item, cell)
        return picture
    }

    /// The image view of a cell.
    static func picture(of cell: Widget) -> Widget? { gtk_widget_get_first_child(cell) }

    /// Sets the texts of a cell that has been bound to a position.
    func fill(_ item: OpaquePointer) {
        let position = Int(gtk_list_item_get_position(item))
        guard items.indices.contains(position), let cell = gtk_list_item_get_child(item),
            let title = gtk_widget_get_last_child(cell)
        else { return }
        cells[position] = cell
        bound.insert(position)
        ended.remove(position)
        // Local images come at once; a fade would only delay them.
        Self.picture(of: cell)?.imageTransition = items[position].isFile ? nil : .fade(duration: 0.2)
        gtk_label_set_text(title.opaque, items[position].title)
        describe(cell, position)
    }

    /// Forgets a cell that has been unbound.
    func empty(_ item: OpaquePointer) {
        let position = Int(gtk_list_item_get_position(item))
        guard let cell = gtk_list_item_get_child(item) else { return }
        if cells[position] == cell { cells[position] = nil }
    }

    /// Sets the accessible description of a cell, and the tooltip if the image failed.
    private func describe(_ cell: Widget, _ position: Int) {
        var text = items[position].title
        if let error = errors[position] { text += ": \(PlainText.line(error.message, most: 200))" }
        // Not for each cell: GTK then asks the display where the pointer is, and waits for the answer.
        if errors[position] != nil {
            gtk_widget_set_tooltip_text(cell, text)
        } else if gtk_widget_get_tooltip_text(cell) != nil {
            gtk_widget_set_tooltip_text(cell, nil)
        }
        if let picture = Self.picture(of: cell) { gtk_picture_set_alternative_text(picture.opaque, text) }
    }

    /// Records the result of a load.
    func note(_ result: Result<WebImageResult, WebImageError>, at position: Int) {
        guard items.indices.contains(position) else { return }
        switch result {
        case .failure(let error) where error.code == .cancelled:
            // The cell was unbound before the load ended; the image loads again when it is bound to another cell.
            bound.remove(position)
            return
        case .failure(let error): errors[position] = error
        case .success: errors[position] = nil
        }
        ended.insert(position)
        if let cell = cells[position] { describe(cell, position) }
    }

    /// The number of images on the screen; nil while some of them are missing.
    var screenCount: Int? {
        let positions = cells.filter { gtk_widget_get_mapped($0.value) != 0 }.keys
        guard !positions.isEmpty, positions.allSatisfy({ ended.contains($0) }) else { return nil }
        return positions.count { errors[$0] == nil }
    }

    /// The image that a cell shows now; nil if the position has no cell.
    func thumbnail(at position: Int) -> Image? {
        cells[position].flatMap { Self.picture(of: $0) }?.latestLoadState?.result?.image
    }
}
