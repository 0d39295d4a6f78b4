import CWebImageGTK4

extension ListImageLoader {
    /// Has a factory's cells loaded: connects its four signals. The factory keeps the loader from then on.
    ///
    /// - Parameters:
    ///   - factory: a `GtkSignalListItemFactory`, of a list or of a column.
    ///   - makeCell: sets up a `GtkListItem`: gives it a child (`gtk_list_item_set_child`), and returns the `GtkPicture` or `GtkImage` in it.
    ///     Handlers of one's own may be connected beside it, to fill in text, for example.
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

    /// A factory of cells that are pictures and nothing else, each of the same size and filled by its picture.
    ///
    /// - Parameters:
    ///   - cellWidth: in points.
    ///   - cellHeight: in points.
    /// - Returns: a new `GtkListItemFactory`, with a reference that the caller owns (as a list takes it when it is made).
    public func makeFactory(cellWidth: Int, cellHeight: Int) -> OpaquePointer? {
        guard let factory = gtk_signal_list_item_factory_new() else { return nil }
        connect(to: factory) { item in
            let picture = UnsafeMutableRawPointer(gtk_picture_new())
            guard let picture else { preconditionFailure("GTK makes no pictures") }
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
