import CWebImageGTK4

/// The page for an empty gallery, with buttons to open images.
@MainActor
enum EmptyPage {
    static func make(_ choose: @escaping @MainActor (SourceChooser.Kind) -> Void) -> Widget {
        let icon = Make.required(gtk_image_new_from_icon_name("image-x-generic-symbolic"))
        gtk_image_set_pixel_size(icon.opaque, 96)
        gtk_widget_add_css_class(icon, "dim-label")
        let title = Make.label("No images", classes: "title-2")
        let hint = Make.label(
            "Open a folder, images, or a text file with one URL per line.",
            classes: "dim-label"
        )
        for label in [title, hint] {
            gtk_label_set_xalign(label.opaque, 0.5)
            gtk_label_set_justify(label.opaque, GTK_JUSTIFY_CENTER)
            Make.wrap(label, at: 50)
        }
        let buttons = Make.box(
            GTK_ORIENTATION_HORIZONTAL,
            spacing: 8,
            Make.button("Open a folder …") { choose(.folder) },
            Make.button("Open files …") { choose(.files) }
        )
        gtk_widget_set_halign(buttons, GTK_ALIGN_CENTER)
        gtk_widget_set_margin_top(buttons, 12)
        let page = Make.box(GTK_ORIENTATION_VERTICAL, spacing: 6, icon, title, hint, buttons)
        gtk_widget_set_halign(page, GTK_ALIGN_CENTER)
        gtk_widget_set_valign(page, GTK_ALIGN_CENTER)
        page.margins(32)
        return page
    }
}
