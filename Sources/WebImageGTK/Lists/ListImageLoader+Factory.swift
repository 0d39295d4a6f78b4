import CWebImageGTK4

extension ListImageLoader {
    /// Loads the images of a factory's cells: connects its four signals. The factory retains the loader.
    ///
    /// - Parameters:
    ///   - factory: a `GtkSignalListItemFactory` of a list or of a column.
    ///   - makeCell: sets up a `GtkListItem`: sets its child (`gtk_list_item_set_child`) and returns the `GtkPicture` or `GtkImage` in it.
    ///     The program can connect other handlers to the same signals, for example to set text.
    /// - Precondition: the factory is a `GtkSignalListItemFactory`.
    public func connect(
        to factory: any GObjectPointer,
        makeCell: @escaping @MainActor (_ listItem: UnsafeMutableRawPointer) -> any GObjectPointer
    ) {
        let factory = factory.gobjectPointer
        precondition(factory.isA(gtk_signal_list_item_factory_get_type()), "not a GtkSignalListItemFactory")
        MainLoopIntegration.install()
        ObjectSignal("setup", of: factory) { [self] item in cell(of: item, view: makeCell(item).gobjectPointer) }
        ObjectSignal("bind", of: factory) { [self] in bind($0) }
        ObjectSignal("unbind", of: factory) { [self] in unbind($0) }
        ObjectSignal("teardown", of: factory) { [self] in teardown($0) }
    }

    /// Makes a factory whose cells are only images, all of the same size and filled by their image.
    ///
    /// - Parameters:
    ///   - cellWidth: the width of a cell in points.
    ///   - cellHeight: the height of a cell in points.
    /// - Returns: a new `GtkListItemFactory`, with a reference that the caller owns (lists take ownership of it).
    public func makeFactory(cellWidth: Int, cellHeight: Int) -> OpaquePointer? {
        guard let factory = gtk_signal_list_item_factory_new() else { return nil }
        connect(to: factory) { item in
            let picture = UnsafeMutableRawPointer(gtk_picture_new())
            guard let picture else { preconditionFailure("gtk_picture_new returned NULL") }
            gtk_widget_set_size_request(picture.widget, gint(clamping: cellWidth), gint(clamping: cellHeight))
            gtk_widget_set_halign(picture.widget, GTK_ALIGN_CENTER)
            gtk_widget_set_valign(picture.widget, GTK_ALIGN_CENTER)
            gtk_picture_set_content_fit(picture.opaque, GTK_CONTENT_FIT_COVER)
            gtk_list_item_set_child(item.opaque, picture.widget)
            return picture
        }
        return factory
    }
}
